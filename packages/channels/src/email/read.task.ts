import { readMail, type Mail } from './mime.ts';

export const run = (raw: Uint8Array): Mail => readMail(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength));
