import assert from 'node:assert/strict';
import { readdir, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { askBackend, person, provisioned, type Body, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

let services: Services;
let ann: Person;
let id: string;
before(async () => {
  services = await startServices();
  ann = await person(services, { plan: 'label' });
  id = await provisioned(ann);
});
after(() => services.stop());

const say = async (message: string): Promise<string> =>
  (await ann.ask('POST', '/api/chat', { agentId: id, message })).body.reply;
const memory = async () => Object.values((await ann.ask('GET', `/api/memory?agentId=${id}`)).body.memory).join();
const total = async () => (await ann.ask('GET', `/api/agents/${id}/messages`)).body.total as number;
const folder = () => path.join(services.runtime.dataDir, 'backups', id);
const list = async (): Promise<Body[]> => (await ann.ask('GET', `/api/agents/${id}/backups`)).body.backups;

describe('backups of an agent', () => {
  let backup: Body;

  test('one is made, listed and downloaded', async () => {
    await say('remember the key is under the mat');
    await say('write notes/plan.txt: first');
    await ann.ask('PUT', `/api/agents/${id}/config`, { memory: { maxEntries: 77 } });
    const made = await ann.ask('POST', `/api/agents/${id}/backups`);
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.equal(made.body.success, true);
    backup = made.body.backup;
    assert.deepEqual(Object.keys(backup).sort(), ['createdAt', 'id', 'image', 'reason', 'size', 'version']);
    assert.deepEqual([backup.reason, backup.image], ['manual', 'troupe-agent:0.0.0-test']);
    assert.deepEqual((await ann.ask('GET', `/api/agents/${id}/backups`)).body, {
      backups: [backup],
      count: 1,
      limit: 10,
    });
    const file = await fetch(`${services.web}/api/agents/${id}/backups/${backup.id}`, { headers: ann.headers() });
    assert.equal(file.headers.get('content-type'), 'application/gzip');
    assert.equal(file.headers.get('content-length'), String(backup.size));
    const content = gunzipSync(await file.arrayBuffer()).toString();
    for (const held of ['under the mat', 'notes/plan.txt', 'first']) assert.ok(content.includes(held), held);
    for (const secret of Object.values(services.runtime.secrets))
      if (typeof secret === 'string') assert.ok(!content.includes(secret), 'no secret of the platform');
  });

  test('it is put back: configuration, memory, conversation and files; what was there is copied first', async () => {
    const before = await total();
    await ann.ask('PUT', `/api/agents/${id}/config`, { memory: { maxEntries: 5 } });
    await ann.ask('PATCH', `/api/agents/${id}`, { name: 'Renamed' });
    await say('remember nothing');
    await say('write notes/plan.txt: second');
    await say('write later.txt: new');
    const restored = await ann.ask('POST', `/api/agents/${id}/backups/${backup.id}/restore`);
    assert.equal(restored.status, 200, JSON.stringify(restored.body));
    const { safetyBackupId, ...rest } = restored.body;
    assert.deepEqual(rest, { success: true, restored: backup.id, status: 'running' });
    assert.equal(await total(), before);
    assert.ok((await memory()).includes('under the mat') && !(await memory()).includes('nothing'));
    const config = await ann.ask('GET', `/api/agents/${id}/config`);
    assert.equal(config.body.config.memory.maxEntries, 77);
    const runs = await askBackend(services, 'GET', `/api/runtime/proxy/${id}/config`);
    assert.equal(runs.body.config.memory.maxEntries, 77, 'the agent runs with it');
    assert.equal((await ann.ask('GET', `/api/agents/${id}`)).body.agent.name, 'Ada');
    assert.match(await say('read notes/plan.txt'), /first/);
    assert.doesNotMatch(await say('list .'), /later/);

    const [newest] = await list();
    assert.deepEqual([newest.id, newest.reason], [safetyBackupId, 'restore']);
    assert.equal((await ann.ask('POST', `/api/agents/${id}/backups/${safetyBackupId}/restore`)).status, 200);
    assert.match(await say('read later.txt'), /new/, 'a restore can be undone');
    assert.equal((await ann.ask('GET', `/api/agents/${id}`)).body.agent.name, 'Renamed');
  });

  test('a stopped agent is copied and put back, and stays stopped', async () => {
    await ann.ask('POST', `/api/instance/${id}/stop`, {});
    const made = await ann.ask('POST', `/api/agents/${id}/backups`);
    assert.equal(made.status, 201);
    const restored = await ann.ask('POST', `/api/agents/${id}/backups/${made.body.backup.id}/restore`);
    assert.deepEqual([restored.status, restored.body.status], [200, 'stopped']);
    assert.equal((await ann.ask('GET', `/api/agents/${id}`)).body.agent.status, 'stopped');
    await ann.ask('POST', `/api/instance/${id}/start`, {});
  });

  test('a damaged one is refused with a sentence, and nothing changes', async () => {
    const made = await ann.ask('POST', `/api/agents/${id}/backups`);
    const file = path.join(folder(), `${made.body.backup.id}.tar.gz`);
    const count = (await list()).length;
    const messages = await total();
    for (const damage of [() => writeFile(file, 'no archive at all'), () => truncate(file, 5)]) {
      await damage();
      assert.deepEqual(await ann.ask('POST', `/api/agents/${id}/backups/${made.body.backup.id}/restore`), {
        status: 409,
        body: { error: 'This backup is damaged. Nothing was changed.' },
      });
    }
    assert.deepEqual([(await list()).length, await total()], [count, messages]);
    assert.equal((await ann.ask('GET', `/api/agents/${id}`)).body.agent.status, 'running');
    const gone = await ann.ask('DELETE', `/api/agents/${id}/backups/${made.body.backup.id}`);
    assert.deepEqual(gone.body, { success: true, deleted: made.body.backup.id });
    assert.equal((await list()).length, count - 1);
    assert.ok(!(await readdir(folder())).some((name) => name.startsWith(made.body.backup.id)), 'its file is gone too');
  });

  test('an update makes one, and its path is told', async () => {
    const updated = await ann.ask('POST', `/api/instance/${id}/update`, {});
    const [newest] = await list();
    assert.equal(newest.reason, 'update');
    assert.equal(updated.body.backupPath, path.join(folder(), `${newest.id}.tar.gz`));
  });

  test('what makes itself is kept three times, what is asked for at most ten times', async () => {
    for (let made = 0; made < 3; made += 1) await ann.ask('POST', `/api/instance/${id}/update`, {});
    const of = async (reason: string) => (await list()).filter((one) => one.reason === reason).length;
    assert.equal(await of('update'), 3);
    while ((await of('manual')) < 10) assert.equal((await ann.ask('POST', `/api/agents/${id}/backups`)).status, 201);
    assert.deepEqual(await ann.ask('POST', `/api/agents/${id}/backups`), {
      status: 409,
      body: { error: 'Too many backups (max 10). Delete one first.' },
    });
    assert.equal((await readdir(folder())).length, (await list()).length, 'no file without a row');
  });

  test('they wait for each other and for other actions', async () => {
    const target = (await list()).find((one) => one.reason === 'manual')!;
    const replies = await Promise.all([
      ann.ask('POST', `/api/agents/${id}/backups/${target.id}/restore`),
      ann.ask('POST', `/api/instance/${id}/restart`, {}),
      ann.ask('POST', `/api/agents/${id}/backups/${target.id}/restore`),
      ann.ask('POST', `/api/instance/${id}/update`, {}),
    ]);
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    assert.equal((await ann.ask('GET', `/api/agents/${id}`)).body.agent.status, 'running');
  });

  test("another user's are not found, nor is one that is not there, nor another agent's", async () => {
    const ben = await person(services, { plan: 'solo' });
    const own = await provisioned(ben);
    const target = (await list())[0].id;
    for (const [method, at] of [
      ['POST', ''],
      ['GET', ''],
      ['GET', `/${target}`],
      ['POST', `/${target}/restore`],
      ['DELETE', `/${target}`],
    ] as const)
      assert.deepEqual(
        await ben.ask(method, `/api/agents/${id}/backups${at}`),
        { status: 404, body: { error: 'Agent not found' } },
        `${method} ${at}`,
      );
    const gone = { status: 404, body: { error: 'Backup not found' } };
    const odd = { status: 400, body: { error: 'A part of the path must not be "." or ".."' } };
    for (const [other, reply] of [
      [target, gone],
      ['none', gone],
      ['..%2f..', odd],
    ] as const)
      for (const [method, at] of [
        ['GET', `/${other}`],
        ['POST', `/${other}/restore`],
        ['DELETE', `/${other}`],
      ] as const)
        assert.deepEqual(await ben.ask(method, `/api/agents/${own}/backups${at}`), reply, `${method} ${at}`);
    assert.equal((await fetch(`${services.web}/api/agents/${id}/backups`)).status, 401);
  });

  test('they go with the agent', async () => {
    await ann.ask('DELETE', `/api/agents/${id}`);
    assert.deepEqual(await readdir(folder()).catch(() => 'gone'), 'gone');
    assert.deepEqual(await services.runtime.db.system.selectFrom('agent_backups').select('id').execute(), []);
  });
});
