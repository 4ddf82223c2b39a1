import assert from 'node:assert/strict';
import { test } from 'node:test';
import { base32, codeOf, matchingPeriod, otpauthUri, periodOf } from './totp.ts';

const SECRET = Buffer.from('12345678901234567890');

test('codes are those of RFC 6238', () => {
  const known: [number, string][] = [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ];
  for (const [seconds, code] of known) assert.equal(codeOf(SECRET, periodOf(new Date(seconds * 1000))), code);
});

test('base32 is that of RFC 4648, without padding', () => {
  const known = { '': '', f: 'MY', fo: 'MZXQ', foo: 'MZXW6', foob: 'MZXW6YQ', fooba: 'MZXW6YTB', foobar: 'MZXW6YTBOI' };
  for (const [plain, text] of Object.entries(known)) assert.equal(base32(Buffer.from(plain)), text);
  assert.equal(base32(SECRET), 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
});

test('a code counts in its period and in those beside it, never again, and never an older one', () => {
  const now = new Date(1_111_111_111_000);
  const period = periodOf(now);
  const at = (offset: number) => codeOf(SECRET, period + offset);
  for (const offset of [-1, 0, 1]) assert.equal(matchingPeriod(SECRET, at(offset), now, 0), period + offset);
  for (const offset of [-2, 2]) assert.equal(matchingPeriod(SECRET, at(offset), now, 0), null);
  assert.equal(matchingPeriod(SECRET, at(0), now, period), null);
  assert.equal(matchingPeriod(SECRET, at(-1), now, period), null);
  assert.equal(matchingPeriod(SECRET, at(1), now, period), period + 1);
  for (const wrong of ['', '12345', '1234567', 'abcdef', '１２３４５６', ' 50471'])
    assert.equal(matchingPeriod(SECRET, wrong, now, 0), null);
});

test('the link for apps names who and where', () => {
  const uri = new URL(otpauthUri(SECRET, 'Troupe a.example', 'ann+x@example.com'));
  assert.equal(decodeURIComponent(uri.pathname), '/Troupe a.example:ann+x@example.com');
  assert.equal(uri.searchParams.get('secret'), 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
  assert.equal(uri.searchParams.get('issuer'), 'Troupe a.example');
  assert.ok(!uri.href.includes('+'));
});
