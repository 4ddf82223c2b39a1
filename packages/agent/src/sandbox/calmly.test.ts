import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { readCalmly } from './calmly.ts';

/** A program whose whole output is read; how, and how long that took. */
async function read(command: string, args: string[]) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const began = performance.now();
  const pieces: Buffer[] = [];
  readCalmly(child.stdout, (piece) => pieces.push(piece));
  await once(child, 'close');
  return { pieces: pieces.length, all: Buffer.concat(pieces), ms: performance.now() - began };
}

test('bytes that are written one by one are read together, and all of them', async () => {
  const { pieces, all, ms } = await read('/bin/dd', ['if=/dev/zero', 'bs=1', 'count=50000']);
  assert.equal(all.length, 50_000);
  assert.ok(pieces <= 2 * ms, `${pieces} pieces in ${ms} ms`);
});

test('what is written in large pieces does not wait', async () => {
  const { pieces, all } = await read('/bin/dd', ['if=/dev/zero', 'bs=1M', 'count=8']);
  assert.equal(all.length, 8 * 1024 * 1024);
  assert.ok(pieces >= 8);
});

test('the last words are read', async () => {
  const { all } = await read('/bin/sh', ['-c', 'echo one; echo two; echo three']);
  assert.equal(all.toString(), 'one\ntwo\nthree\n');
});
