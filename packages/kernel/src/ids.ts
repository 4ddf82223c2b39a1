import { randomBytes, randomInt, randomUUID } from 'node:crypto';

export const newId = (): string => randomUUID();

/** `count` random bytes as lower-case hex: tokens, session ids, invite codes. */
export const randomHex = (count: number): string => randomBytes(count).toString('hex');

const BASE36 = '0123456789abcdefghijklmnopqrstuvwxyz';

export const randomBase36 = (length: number): string => Array.from({ length }, () => BASE36[randomInt(36)]).join('');
