import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { qrCode } from './qr.ts';

/** Modules as an independent reader (jsQR) has read them, for every length from 1 to 412 when this was written. */
const KNOWN: [length: number, size: number, hash: string][] = [
  [5, 21, '9f8578af09c2b7b6'],
  [60, 33, '50c3b0e5fbc813d1'],
  [150, 49, '3c451eaedac9a581'],
  [250, 61, '11faec45c14781ff'],
  [412, 77, 'bf0a97bf1b086a18'],
];

const text = (length: number) =>
  Array.from({ length }, (_, index) => String.fromCharCode(33 + ((index * 7919 + length * 31) % 90))).join('');
const hashOf = (rows: boolean[][]) =>
  createHash('sha256')
    .update(rows.map((row) => row.map(Number).join('')).join('\n'))
    .digest('hex')
    .slice(0, 16);

test('QR codes are those that a reader has read', () => {
  for (const [length, size, hash] of KNOWN) {
    const rows = qrCode(text(length));
    assert.deepEqual([rows?.length, rows && hashOf(rows)], [size, hash]);
  }
});

test('what is too long has none', () => {
  assert.ok(qrCode(text(412)));
  assert.equal(qrCode(text(413)), null);
  assert.equal(qrCode('é'.repeat(207)), null);
});
