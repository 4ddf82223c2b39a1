import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { silentLog } from '@troupe/kernel';
import { createClient } from './client.ts';
import { figures } from './figures.ts';
import { followPods } from './pods.ts';

/** A server that says what an API server says, when it is told to. */
async function stage() {
  const asked: string[] = [];
  const watches: ServerResponse[] = [];
  let listed: object[] = [];
  let watchStatus = 200;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://x');
    const isWatch = url.searchParams.has('watch');
    asked.push(isWatch ? `watch ${url.searchParams.get('resourceVersion')}` : 'list');
    if (!isWatch) return void response.end(JSON.stringify({ items: listed, metadata: { resourceVersion: '10' } }));
    response.writeHead(watchStatus);
    if (watchStatus !== 200) return void response.end('{"message":"too old"}');
    response.flushHeaders();
    watches.push(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const access = { server: new URL(`http://127.0.0.1:${port}`), tls: {}, namespace: 'n', inside: false };
  const client = createClient({ ...access, token: async () => undefined });
  return {
    asked,
    watches,
    pods: followPods({ client, path: '/pods', log: silentLog }),
    list: (...items: object[]) => void (listed = items),
    answer: (status: number) => void (watchStatus = status),
    say: (type: string, object: object) => void watches.at(-1)!.write(`${JSON.stringify({ type, object })}\n`),
    close: () => {
      client.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

const pod = (agentId: string, version: string) => ({
  metadata: { name: `p-${agentId}`, uid: agentId, resourceVersion: version, annotations: { 'troupe.agent': agentId } },
  spec: {},
  status: {
    phase: 'Running',
    podIP: '127.0.0.9',
    conditions: [{ type: 'Ready', status: 'True' }],
    containerStatuses: [{ restartCount: 0, state: { running: {} } }],
  },
});

async function until(what: string, done: () => boolean): Promise<void> {
  for (let tries = 0; !done(); tries += 1) {
    assert.ok(tries < 400, what);
    await delay(20);
  }
}

test('a watch goes on where it ended, and begins anew when the server has forgotten', async () => {
  const on = await stage();
  try {
    on.list(pod('a', '9'));
    await until('it follows', () => on.watches.length === 1);
    await until('it knows', () => on.pods.alive()?.has('a') === true);
    on.say('ADDED', pod('b', '11'));
    on.say('BOOKMARK', { metadata: { name: '', resourceVersion: '15' } });
    await until('it hears', () => on.pods.alive()?.has('b') === true);
    assert.equal((await on.pods.of('b'))?.address, 'http://127.0.0.9:18789');
    on.watches[0]!.destroy();
    await until('nobody can tell', () => on.pods.alive() === undefined);
    assert.equal((await on.pods.of('b'))?.agentId, 'b', 'what was known last still counts');
    await until('it goes on', () => on.watches.length === 2);
    assert.deepEqual(on.asked, ['list', 'watch 10', 'watch 15']);
    on.say('DELETED', pod('b', '16'));
    await until('it is gone', () => on.pods.alive()?.has('b') === false);
    on.list(pod('c', '19'));
    on.say('ERROR', { code: 410, message: 'too old', metadata: { name: '' } });
    await until('it looks again', () => on.watches.length === 3);
    await until('it knows what is', () => on.pods.alive()?.has('c') === true && !on.pods.alive()?.has('a'));
    assert.deepEqual(on.asked.slice(3), ['list', 'watch 10']);
    on.answer(410);
    on.watches[2]!.end();
    await until('forgotten at the very start', () => on.asked.slice(5).join() === 'watch 10,list,watch 10');
    on.answer(200);
    await until('it follows again', () => on.watches.length === 4);
  } finally {
    on.pods.close();
    on.close();
  }
});

test('who was never told asks in vain for a moment, and is then told that nobody can tell', async () => {
  const on = await stage();
  on.answer(500);
  try {
    assert.equal(on.pods.alive(), undefined);
    await assert.rejects(on.pods.of('a'), { status: 503 });
  } finally {
    on.pods.close();
    on.close();
  }
});

test('what a cluster measures is told in percent and bytes, and what it does not is null', () => {
  const measured = { metadata: { name: 'p' }, containers: [{ usage: { cpu: '250m', memory: '51200Ki' } }] };
  assert.deepEqual(figures(measured, 100 * 1024 ** 2), {
    cpu: 25,
    memory: 50 * 1024 ** 2,
    memoryPercent: 50,
    network: null,
    pids: null,
  });
  assert.deepEqual(figures(undefined, 1).memory, null);
  const odd = { metadata: { name: 'p' }, containers: [{ usage: { cpu: 'much', memory: '3Qi' } }] };
  assert.deepEqual([figures(odd, 1).cpu, figures(odd, 1).memory], [null, null]);
});
