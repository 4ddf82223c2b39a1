import { randomHex } from '@troupe/kernel';
import type { OutgoingFile } from '../channel.ts';

/** A mail as it goes out. Whatever is put into it, no header begins but ours. */

export interface Letter {
  from: string;
  to: string;
  subject: string;
  messageId: string;
  inReplyTo?: string;
  references?: string;
  date: Date;
  text: string;
  files: readonly OutgoingFile[];
}

const WORD_BYTES = 42;

/** Other than ASCII in words of base64, each short enough for a line. */
function encodeWords(text: string): string {
  const plain = text.replaceAll(/[\r\n\0]+/g, ' ').trim();
  if (/^[\x20-\x7e]*$/.test(plain) && plain.length <= 900 && !plain.includes('=?')) return plain;
  const words: string[] = [];
  let word = '';
  for (const character of plain) {
    if (Buffer.byteLength(word + character) > WORD_BYTES) {
      words.push(word);
      word = '';
    }
    word += character;
  }
  return [...words, word].map((one) => `=?utf-8?B?${Buffer.from(one).toString('base64')}?=`).join('\r\n ');
}

const inLines = (bytes: Buffer): string => bytes.toString('base64').replaceAll(/.{76}/g, '$&\r\n');
const oneLine = (text: string): string => text.replaceAll(/[\r\n\0]+/g, ' ').trim();

const textPart = (text: string): string =>
  `Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n${inLines(Buffer.from(text))}\r\n`;

function filePart({ name, bytes }: OutgoingFile): string {
  const encoded = encodeURIComponent(name).replaceAll("'", '%27');
  return `Content-Type: application/octet-stream\r\nContent-Disposition: attachment; filename*=utf-8''${encoded}\r\nContent-Transfer-Encoding: base64\r\n\r\n${inLines(bytes)}\r\n`;
}

export function composeMail({
  from,
  to,
  subject,
  messageId,
  inReplyTo,
  references,
  date,
  text,
  files,
}: Letter): string {
  const head = [
    `From: <${oneLine(from)}>`,
    `To: <${oneLine(to)}>`,
    `Subject: ${encodeWords(subject)}`,
    `Date: ${date.toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: ${oneLine(messageId)}`,
    ...(inReplyTo ? [`In-Reply-To: ${oneLine(inReplyTo)}`] : []),
    ...(references ? [`References: ${oneLine(references).split(' ').join('\r\n ')}`] : []),
    // Programs that answer by themselves leave such mails alone.
    'Auto-Submitted: auto-replied',
    'X-Auto-Response-Suppress: All',
    'MIME-Version: 1.0',
  ].join('\r\n');
  if (files.length === 0) return `${head}\r\n${textPart(text)}`;
  const boundary = `troupe-${randomHex(16)}`;
  const parts = [textPart(text), ...files.map(filePart)].map((part) => `--${boundary}\r\n${part}`);
  return `${head}\r\nContent-Type: multipart/mixed; boundary="${boundary}"\r\n\r\n${parts.join('')}--${boundary}--\r\n`;
}
