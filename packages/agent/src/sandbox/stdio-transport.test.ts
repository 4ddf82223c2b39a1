import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStdioTransport } from './stdio-transport.ts';

const parse = (said: unknown) => said as never;

test('a program that complains without end is ended', async () => {
  const program = { command: '/bin/sh', args: ['-c', 'exec yes 1>&2'], release: () => {} };
  const transport = createStdioTransport(program, parse);
  const told = new Promise<Error>((resolve) => (transport.onerror = resolve));
  const closed = new Promise<void>((resolve) => (transport.onclose = resolve));
  await transport.start();
  try {
    assert.match((await told).message, /said more than 2000 lines or 16777216 bytes in 10 s/);
    await closed;
  } finally {
    await transport.close();
  }
});
