import assert from 'node:assert/strict';
import { EventEmitter, on } from 'node:events';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createFairQueue } from '@troupe/kernel';
import type { Room } from '../agent.ts';
import { testAgent } from '../testing.ts';

const LARGE = 'x'.repeat(200_000);

/** Room for one page, however many want one. */
function oneRoom(): { room: Room; asked: (count: number) => Promise<void> } {
  const queue = createFairQueue({ width: 1, waiting: Infinity, waitingPerKey: Infinity });
  const asking = new EventEmitter();
  let askers = 0;
  return {
    room: (signal) =>
      new Promise((resolve, reject) => {
        queue.run('', () => new Promise<void>((leave) => resolve(leave)), signal).catch(reject);
        asking.emit('asked', (askers += 1));
      }),
    async asked(count) {
      if (askers >= count) return;
      for await (const [now] of on(asking, 'asked')) if (now >= count) return;
    },
  };
}

async function agentWith(conversations: number) {
  const { agent, store } = await testAgent();
  const ids: string[] = [];
  for (let n = 0; n < conversations; n += 1) {
    const to = { channel: 'web', key: `conversation ${n}` };
    for (let said = 0; said < 3; said += 1) ids[n] = (await agent.note({ to, role: 'user', content: LARGE })).sessionId;
  }
  let read = 0;
  const real = store.events.bind(store);
  store.events = (...given) => ((read += 1), real(...given));
  return { agent, ids, pagesRead: () => read };
}

test('who does not take a page keeps others that share its room from reading theirs, and no longer', async () => {
  const { agent, ids, pagesRead } = await agentWith(4);
  const { room, asked } = oneRoom();
  const gone = ids.map(() => new AbortController());
  const following = ids.map((id, n) => agent.follow(id, 0, gone[n]!.signal, room)[Symbol.asyncIterator]());
  const first = following.map((one) => one.next());
  assert.equal((await first[0]!).value.event.content, LARGE);
  await asked(ids.length);
  await nextTurn();
  assert.equal(pagesRead(), 1, 'nobody else has a page in memory');
  // One that waits and goes leaves the line; the one that has the room makes it free.
  gone[1]!.abort();
  assert.equal((await first[1]!).done, true);
  gone[0]!.abort();
  await following[0]!.return?.();
  assert.equal((await first[2]!).value.event.content, LARGE);
  for (const one of gone) one.abort();
  for (const one of following) await one.return?.();
});

test('all of a conversation comes, page by page, with others in between', async () => {
  const { agent, ids } = await agentWith(3);
  const { room } = oneRoom();
  const read = async (id: string): Promise<number> => {
    let events = 0;
    const gone = new AbortController();
    for await (const _ of agent.follow(id, 0, gone.signal, room)) if ((events += 1) === 3) break;
    return events;
  };
  assert.deepEqual(await Promise.all(ids.map(read)), [3, 3, 3]);
});

test('who listens before the work begins hears every word of it, however long the store takes', async () => {
  const { agent, store } = await testAgent({ script: () => 'one two three' });
  const ended = Promise.withResolvers<void>();
  const real = store.events.bind(store);
  store.events = async (...given) => (await ended.promise, real(...given));
  const gone = new AbortController();
  const heard: string[] = [];
  const listen = async (sessionId: string, seq: number): Promise<void> => {
    for await (const live of agent.follow(sessionId, seq, gone.signal)) {
      heard.push(live.kind === 'delta' ? live.text : live.event.type);
      if (live.kind === 'event' && live.event.type === 'run_ended') return;
    }
  };
  let listening: Promise<void> | undefined;
  await agent.tell({
    to: { channel: 'web', key: 'a' },
    inputId: 'one',
    content: 'hello',
    from: 'owner',
    onTaken({ sessionId, seq }) {
      listening = listen(sessionId, seq);
      agent.watch(sessionId, (live) => {
        if (live.kind === 'event' && live.event.type === 'run_ended') ended.resolve();
      });
    },
  });
  await listening;
  gone.abort();
  assert.equal(heard.filter((one) => / ?(?:one|two|three)/.test(one)).join(''), 'one two three', heard.join());
  assert.deepEqual(heard.slice(-2), ['assistant', 'run_ended']);
});
