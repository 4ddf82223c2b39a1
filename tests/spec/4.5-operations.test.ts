import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { send } from '@troupe/testing/services/people';
import { addUser, startServices, type Services, type TestUser } from '@troupe/testing/services/services';

/** Configuration, devices and scheduled tasks with a real agent behind them; the error rows are tested beside the slices. */

let services: Services;
let ada: TestUser;
let agentId: string;
let gatewayToken: string;

const ask = (method: string, path: string, body?: unknown, bearer = ada.key, base = services.web) =>
  send(base + path, method, body, { authorization: `Bearer ${bearer}` });

/** Until `read` answers something; the test's own time limit ends the wait. */
async function eventually<T>(read: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await read();
    if (found !== undefined) return found;
    await delay(50);
  }
}

before(async () => {
  services = await startServices();
  await services.runtime.jobs.start();
  ada = await addUser(services.runtime, { plan: 'label' });
  const made = await ask('POST', '/api/agents/provision', { name: 'Ada' });
  assert.equal(made.status, 201);
  agentId = made.body.agent.id;
  gatewayToken = (await ask('GET', `/api/agents/${agentId}/token`)).body.token;
});
after(() => services.stop());

describe('configuration', () => {
  test('a saved configuration is taken over by the running agent, and so is a restored one', async () => {
    const saved = await ask('POST', '/api/config', { config: { memory: { maxEntries: 7 } } });
    assert.equal(saved.status, 200);
    const takenOver = (entries: number) =>
      eventually(async () => {
        const { body } = await ask('GET', `/api/agents/${agentId}/config`);
        return body.config.memory.maxEntries === entries ? true : undefined;
      });
    await takenOver(7);
    await ask('PUT', '/api/config', { backupId: saved.body.backupId });
    await takenOver(1000);
  });
});

describe('devices', () => {
  const proxy = () => `/api/runtime/proxy/${agentId}`;

  test('a paired device opens the agent’s gateway until it is revoked; an open connection is cut', async () => {
    const { deviceId, deviceSecret } = (await ask('POST', '/api/devices/pair', { name: 'Phone' }, gatewayToken)).body;
    assert.equal((await ask('GET', `/api/devices/pair/${deviceId}`, undefined, deviceSecret)).body.status, 'pending');
    assert.equal((await ask('POST', '/api/devices', { deviceId, action: 'approve' })).body.device.status, 'approved');
    const { token } = (await ask('GET', `/api/devices/pair/${deviceId}`, undefined, deviceSecret)).body;

    const sessions = () => ask('GET', `${proxy()}/sessions`, undefined, token, services.backend);
    assert.equal((await sessions()).status, 200);
    const socket = new WebSocket(`${services.backend.replace('http', 'ws')}${proxy()}/ws`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await once(socket, 'open');
    const cut = once(socket, 'close');

    assert.equal((await ask('POST', '/api/devices', { deviceId, action: 'revoke' })).body.device.status, 'revoked');
    await cut;
    assert.equal((await sessions()).status, 401);
    assert.equal((await ask('GET', `${proxy()}/sessions`, undefined, deviceSecret, services.backend)).status, 401);
  });
});

describe('scheduled tasks', () => {
  const schedule = async (name: string, id: string): Promise<string> => {
    const task = { name, cronSchedule: '* * * * * *', prompt: 'say hello', agentId: id };
    const created = await ask('POST', '/api/scheduled-tasks', task);
    assert.equal(created.status, 201);
    return created.body.id;
  };
  /** The first run that has ended; the scheduler looks every 30 seconds. */
  const firstRun = (taskId: string) =>
    eventually(async () => {
      const { body } = await ask('GET', `/api/scheduled-tasks/${taskId}/runs`);
      return body.runs.find(({ status }: { status: string }) => status !== 'running');
    });
  const provision = async (name: string): Promise<string> =>
    (await ask('POST', '/api/agents/provision', { name })).body.agent.id;

  test('a real agent answers; one that is stopped or deleted is told as a failure', { timeout: 90_000 }, async () => {
    const [stoppedAgent, deletedAgent] = [await provision('Stopped'), await provision('Deleted')];
    const running = await schedule('Now', agentId);
    const stopped = await schedule('Stopped', stoppedAgent);
    const deleted = await schedule('Deleted', deletedAgent);
    assert.equal((await ask('POST', `/api/instance/${stoppedAgent}/stop`, {})).status, 200);
    assert.equal((await ask('DELETE', `/api/agents/${deletedAgent}`)).status, 200);

    const run = await firstRun(running);
    assert.deepEqual([run.status, run.error], ['succeeded', null]);
    assert.match(run.output, /sandbox/);
    for (const task of [stopped, deleted]) {
      const failed = await firstRun(task);
      assert.equal(failed.status, 'failed');
      assert.ok(failed.error);
    }
    const { tasks } = (await ask('GET', '/api/scheduled-tasks')).body;
    assert.ok(tasks.find(({ id }: { id: string }) => id === running).lastRun);
    for (const taskId of [running, stopped, deleted])
      assert.equal((await ask('DELETE', '/api/scheduled-tasks', { taskId })).status, 200);
  });
});

describe('notices', () => {
  test('new ones come as they are raised', async () => {
    const stop = new AbortController();
    const response = await fetch(`${services.web}/api/notices`, {
      headers: { authorization: `Bearer ${ada.key}`, accept: 'text/event-stream' },
      signal: stop.signal,
    });
    assert.equal(response.headers.get('content-type'), 'text/event-stream');
    let text = '';
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const until = async (part: string) => {
      while (!text.includes(part)) text += (await reader.read()).value ?? '';
    };
    await until('event: ready');
    await ask('POST', '/api/devices/pair', { name: 'Toaster' }, gatewayToken);
    await until('Toaster asks to be paired with Ada');
    assert.match(text, /event: notice/);
    stop.abort();
    const { body } = await ask('GET', '/api/notices');
    assert.ok(body.unread > 0);
    assert.equal((await ask('POST', '/api/notices/read', {})).status, 200);
    assert.equal((await ask('GET', '/api/notices')).body.unread, 0);
  });
});
