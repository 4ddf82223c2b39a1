import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Client } from '@troupe/contract';
import { silentLog } from '@troupe/kernel';
import { createFollowing, type FollowingDeps } from './following.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const PLACE = {
  key: 'k',
  visitorId: 'v',
  address: '10.0.0.1',
  ownerId: 'o',
  agentId: 'a',
  sessionId: 's',
  state: 'agent',
  after: 0,
};
const WORDS = 'w'.repeat(1000);
const MANY = 20_000;

/** A conversation in which much is said. */
const client = {
  open: async () =>
    new Response(
      new ReadableStream({
        start: () => undefined,
        pull(controller) {
          controller.enqueue(new TextEncoder().encode(`event: delta\ndata: {"text":"${WORDS}"}\n\n`));
        },
      }),
    ),
} as unknown as Client;

test('a stream keeps nothing of what it has passed on', async () => {
  const deps = { db: {}, listener: { on: () => undefined }, log: silentLog } as unknown as FollowingDeps;
  const gone = new AbortController();
  const heapAfter = async (events: AsyncIterator<unknown>, count: number): Promise<number> => {
    for (let n = 0; n < count; n += 1) assert.equal((await events.next()).done, false);
    await turn();
    collect();
    return process.memoryUsage().heapUsed / 1024 / 1024;
  };
  const events = createFollowing(deps)(client, PLACE, gone.signal)[Symbol.asyncIterator]();
  const before = await heapAfter(events, 100);
  const grown = (await heapAfter(events, MANY)) - before;
  assert.ok(grown < 5, `${MANY} pieces of an answer left ${grown.toFixed(1)} MB behind`);
  gone.abort();
  await events.return?.();
});
