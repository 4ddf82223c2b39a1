import assert from 'node:assert/strict';
import { get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { endpoint } from '@troupe/contract';
import { testServer } from '@troupe/testing/http/server';
import { pulled } from '../each.ts';
import { eventStream } from './reply.ts';
import { serve } from './serve.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const READERS = 40;
const LARGE = 1_000_000;
const LEAST_HELD = (READERS * LARGE) / 4;

const held = (): number => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

test('an open stream keeps nothing of what it has told while there is nothing more to tell', async (t) => {
  const server = testServer();
  const told = endpoint({
    service: 'web',
    summary: 'A test',
    tag: 'Test',
    method: 'GET',
    path: '/api/told',
    auth: 'none',
    produces: 'text/event-stream',
  });
  const end = Promise.withResolvers<undefined>();
  const waiting: number[] = [];
  serve(server, told, () => {
    let said = false;
    const next = async () => {
      if (!said) {
        said = true;
        return { data: { text: `${Math.random()} `.repeat(LARGE / 20) } };
      }
      waiting.push(1);
      return end.promise;
    };
    return eventStream(pulled(next, () => {}));
  });
  await server.listen(0, 'WEB_PORT');
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.app.server.address() as AddressInfo).port}/api/told`;
  const before = held();
  const ended = Array.from({ length: READERS }, () => {
    const over = Promise.withResolvers<void>();
    get(url, { agent: false }, (response) => response.resume().once('close', over.resolve));
    return over.promise;
  });
  while (waiting.length < READERS) await new Promise((resolve) => setTimeout(resolve, 10));
  let most = Infinity;
  for (let n = 0; n < 100 && most > LEAST_HELD; n += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    most = held() - before;
  }
  assert.ok(most < LEAST_HELD, `${Math.round(most / 1e6)} MB are held`);
  end.resolve(undefined);
  await Promise.all(ended);
});
