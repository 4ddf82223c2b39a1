import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tar, untar, type TarEntry } from './tar.ts';

async function* pieces(entries: TarEntry[], size: number): AsyncGenerator<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of tar(entries)) parts.push(part);
  const all = Buffer.concat(parts);
  assert.equal(all.length % 512, 0);
  for (let at = 0; at < all.length; at += size) yield all.subarray(at, at + size);
}

async function read(source: AsyncIterable<Buffer>) {
  const found: [string, string, string][] = [];
  for await (const { path, kind, link, content } of untar(source)) {
    let text = link;
    for await (const piece of content) text += piece.toString();
    found.push([path, kind, text]);
  }
  return found;
}

async function* grown(): AsyncGenerator<Buffer> {
  yield Buffer.from('abc');
  yield Buffer.from('def');
}

const long = `${'ä'.repeat(60)}/${'x'.repeat(80)}`;
const entries: TarEntry[] = [
  { path: 'a/', mode: 0o755 },
  { path: 'a/b', mode: 0o644, content: Buffer.from('hello') },
  { path: 'empty', mode: 0o644, content: Buffer.alloc(0) },
  { path: long, mode: 0o600, content: Buffer.alloc(513, 'z') },
  { path: 'l', mode: 0o777, link: `../${long}` },
  { path: 'cut', mode: 0o600, file: { size: 4, read: grown } },
  { path: 'filled', mode: 0o600, file: { size: 8, read: grown } },
];

test('what is written is read again, however it is cut into pieces, with long names and files that change', async () => {
  for (const size of [1, 511, 512, 4096, 1_000_000])
    assert.deepEqual(await read(pieces(entries, size)), [
      ['a/', 'folder', ''],
      ['a/b', 'file', 'hello'],
      ['empty', 'file', ''],
      [long, 'file', 'z'.repeat(513)],
      ['l', 'link', `../${long}`],
      ['cut', 'file', 'abcd'],
      ['filled', 'file', 'abcdef\0\0'],
    ]);
});

test('an archive that is cut off or changed is refused', async () => {
  async function* cut(): AsyncGenerator<Buffer> {
    for await (const piece of pieces(entries, 512)) {
      yield piece;
      if (piece.includes('hello')) return;
    }
  }
  await assert.rejects(read(cut()), /ends too early/);
  async function* changed(): AsyncGenerator<Buffer> {
    for await (const piece of pieces(entries, 512)) {
      if (piece.includes('a/b')) piece[0] = 0x7a;
      yield piece;
    }
  }
  await assert.rejects(read(changed()), /damaged/);
});
