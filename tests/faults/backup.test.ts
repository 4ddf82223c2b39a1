import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { dockerEngine } from '@troupe/fleet';
import { ownDocker } from '../lib/docker.ts';
import { needs } from '../lib/needs.ts';
import { send, type Reply } from '../lib/people.ts';
import { ownSettings, startProgram } from '../lib/program.ts';

/** `npm run backup` and `npm run restore` on a real platform: everything is there again, on nothing but the archive. */

const SCRIPTS = path.resolve(import.meta.dirname, '../../scripts');
const OWNER = 'owner@troupe.local';
const PLAN = 'first draft';

type Env = Record<string, string>;

function script(name: 'backup' | 'restore', file: string, env: Env): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [path.join(SCRIPTS, `${name}.ts`), file],
      { env: { PATH: process.env['PATH'], ...env } },
      (error, _, said) => resolve({ code: Number(error?.code ?? 0), said }),
    );
  });
}

async function started(t: TestContext, env: Env) {
  const program = startProgram(env);
  t.after(async () => {
    program.kill('SIGKILL');
    await program.exit;
  });
  await program.ready;
  return {
    web: `http://127.0.0.1:${env['WEB_PORT']}`,
    password: /Password\s+(\S+)/.exec(program.output())?.[1] ?? '',
    async stop() {
      program.kill('SIGTERM');
      assert.equal((await program.exit).code, 0, program.output());
    },
  };
}
type Platform = Awaited<ReturnType<typeof started>>;

async function signIn({ web }: Platform, password: string) {
  const answer = await fetch(`${web}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: OWNER, password }),
  });
  assert.equal(answer.status, 200, await answer.text());
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  return (method: string, at: string, body?: unknown) => send(web + at, method, body, { cookie });
}
type Ask = Awaited<ReturnType<typeof signIn>>;

const good = async (answer: Promise<Reply>): Promise<Reply['body']> => {
  const { status, body } = await answer;
  assert.ok(status < 300, `${status} ${JSON.stringify(body)}`);
  return body;
};

/** What a person has, and what only the right keys and files can answer. */
async function belongings(ask: Ask, agentId: string) {
  const message = {
    version: '1.0',
    messageId: 'the-same-each-time',
    timestamp: '2026-01-01T00:00:00.000Z',
    from: { agentId },
    to: { agentId },
    action: 'PING',
    payload: {},
  };
  const { messages } = await good(ask('GET', `/api/chat?agentId=${agentId}`));
  const { memory } = await good(ask('GET', `/api/memory?agentId=${agentId}`));
  const { keys } = await good(ask('GET', '/api/keys'));
  const { agents } = await good(ask('GET', '/api/agents'));
  return {
    messages,
    memory,
    keys,
    agents: agents.map(({ id, name }: Reply['body']) => [id, name]),
    wallet: await good(ask('GET', '/api/wallet')),
    // deterministic: the same only with the same private key, which is sealed with WALLET_ENCRYPTION_KEY
    signed: await good(ask('POST', '/api/underground/bus/sign', { message })),
  };
}

test('user, agent, workspace, chat, memory, keys and wallets survive the loss of everything else', async (t) => {
  const own = await ownSettings();
  const elsewhere = await mkdtemp(path.join(tmpdir(), 'troupe-backup-'));
  t.after(own.remove);
  t.after(() => rm(elsewhere, { recursive: true, force: true }));
  const { env } = own;
  const file = path.join(elsewhere, 'troupe.tar.gz');

  const first = await started(t, env);
  const ask = await signIn(first, first.password);
  const { agent } = await good(ask('POST', '/api/agents/provision', { name: 'Ada' }));
  await good(ask('POST', '/api/chat', { agentId: agent.id, message: `write plan.md: ${PLAN}` }));
  await good(ask('POST', '/api/chat', { agentId: agent.id, message: 'remember the show starts at eight' }));
  await good(ask('POST', '/api/keys', { name: 'laptop' }));
  await good(ask('POST', '/api/wallet', { action: 'create' }));
  await good(ask('POST', '/api/underground/wallets', { agentId: agent.id }));
  const before = await belongings(ask, agent.id);
  assert.ok(before.messages.length >= 4);
  assert.match(JSON.stringify(before.memory), /eight/);

  const backedUp = await script('backup', file, env);
  assert.equal(backedUp.code, 0, backedUp.said);
  assert.equal((await stat(file)).mode & 0o777, 0o600, 'it holds the secrets');
  assert.deepEqual((await readdir(elsewhere)).sort(), ['troupe.tar.gz']);
  assert.deepEqual(
    (await readdir(own.dataDir)).filter((name) => name.startsWith('.')),
    [],
  );
  const inUse = await script('restore', file, env);
  assert.deepEqual([inUse.code, /restore into an empty DATA_DIR/.test(inUse.said)], [1, true], inUse.said);
  await first.stop();

  await rm(own.dataDir, { recursive: true });
  const otherKey = await script('restore', file, { ...env, WALLET_ENCRYPTION_KEY: 'another' });
  assert.deepEqual([otherKey.code, /another WALLET_ENCRYPTION_KEY/.test(otherKey.said)], [1, true], otherKey.said);
  const restored = await script('restore', file, env);
  assert.equal(restored.code, 0, restored.said);
  assert.equal(await readFile(path.join(own.dataDir, 'workspaces', agent.id, 'plan.md'), 'utf8'), PLAN);
  assert.equal((await stat(path.join(own.dataDir, 'secrets.json'))).mode & 0o777, 0o600);

  const second = await started(t, env);
  assert.equal(second.password, '', 'no second owner is made');
  const askAgain = await signIn(second, first.password);
  assert.deepEqual(await belongings(askAgain, agent.id), before);
  const { reply } = await good(askAgain('POST', '/api/chat', { agentId: agent.id, message: 'read plan.md' }));
  assert.match(reply, new RegExp(PLAN));
  await second.stop();
});

describe('agents in containers', { skip: needs('an own container engine') }, () => {
  for (const driver of ['docker', 'swarm'])
    test(`of ${driver} have their data again, on an engine that was empty`, { timeout: 180_000 }, async (t) => {
      const own = await ownSettings();
      const elsewhere = await mkdtemp(path.join(tmpdir(), 'troupe-backup-'));
      const engines = [await ownDocker({ swarm: driver === 'swarm' }), await ownDocker({ swarm: driver === 'swarm' })];
      t.after(own.remove);
      t.after(() => rm(elsewhere, { recursive: true, force: true }));
      // agents end with the platform's clean-up of them, not with the platform
      const [old, empty] = engines.map(({ host }) => ({ ...own.env, AGENT_DRIVER: driver, DOCKER_HOST: host }));
      t.after(async () => {
        for (const engine of engines) {
          await removeAgents(engine.host);
          await engine.close();
        }
      });
      const file = path.join(elsewhere, 'troupe.tar.gz');
      const refused = async (name: 'backup' | 'restore', env: Env, why: RegExp): Promise<void> => {
        const { code, said } = await script(name, file, env);
        assert.equal(code, 1, said);
        assert.match(said, why);
      };

      const first = await started(t, old!);
      const ask = await signIn(first, first.password);
      const say = async (to: Ask, agentId: string, message: string): Promise<string> =>
        (await good(to('POST', '/api/chat', { agentId, message }))).reply;
      const provision = async (name: string): Promise<string> =>
        (await good(ask('POST', '/api/agents/provision', { name }))).agent.id;
      const running = await provision('Ada');
      const stopped = await provision('Ben');
      for (const id of [running, stopped]) await say(ask, id, `write plan.md: ${PLAN} of ${id}`);
      await say(ask, running, 'remember the show starts at eight');
      await good(ask('POST', `/api/instance/${stopped}/stop`, {}));

      await refused('backup', { ...old!, DOCKER_HOST: '/nowhere/docker.sock' }, AWAY);
      await refused('backup', empty!, new RegExp(`The container engine has no data of ${running}, which should run`));
      assert.deepEqual(await readdir(elsewhere), [], 'what is not whole is no backup');
      const backedUp = await script('backup', file, old!);
      assert.equal(backedUp.code, 0, backedUp.said);
      assert.match(backedUp.said, /and the data of 2 agents in containers\.\n$/);
      assert.match(await say(ask, running, 'read plan.md'), new RegExp(PLAN), 'it goes on');
      await first.stop();
      await rm(own.dataDir, { recursive: true });

      await refused('restore', old!, new RegExp(`already has data of (${running}|${stopped})`));
      await refused('restore', own.env, /set AGENT_DRIVER to docker or swarm/);
      await refused('restore', { ...old!, DOCKER_HOST: '/nowhere/docker.sock' }, /nothing was restored/);
      const restored = await script('restore', file, empty!);
      assert.equal(restored.code, 0, restored.said);

      const second = await started(t, empty!);
      const askAgain = await signIn(second, first.password);
      const status = async (id: string): Promise<string> =>
        (await good(askAgain('GET', `/api/agents/${id}`))).agent.status;
      while ((await askAgain('POST', '/api/chat', { agentId: running, message: 'hello' })).status !== 200)
        await delay(200);
      assert.deepEqual([await status(running), await status(stopped)], ['running', 'stopped']);
      await good(askAgain('POST', `/api/instance/${stopped}/start`, {}));
      for (const id of [running, stopped])
        assert.match(await say(askAgain, id, 'read plan.md'), new RegExp(`${PLAN} of ${id}`));
      assert.match(await say(askAgain, running, 'recall show'), /eight/);
      await second.stop();
    });
});

const AWAY =
  /^The container engine is not available: nothing was backed up, because agents in containers have their data there\./;

/** An engine that ends leaves what runs in it. */
async function removeAgents(host: string): Promise<void> {
  const engine = await dockerEngine(host);
  const services = await engine.listServices().catch(() => []);
  for (const { ID } of services) await engine.getService(ID!).remove();
  for (const { Id } of await engine.listContainers({ all: true }))
    await engine.getContainer(Id).remove({ force: true });
}

test('what is no backup, or not there, is said and changes nothing', async (t) => {
  const own = await ownSettings();
  t.after(own.remove);
  const missing = await script('restore', '/nowhere/at-all', own.env);
  assert.deepEqual([missing.code, missing.said], [1, 'There is no /nowhere/at-all.\n']);
  const other = await script('restore', import.meta.filename, own.env);
  assert.equal(other.code, 1);
  assert.match(other.said, /^tar failed: .+\n$/);
  const unnamed = await script('backup', '', own.env);
  assert.deepEqual([unnamed.code, unnamed.said.startsWith('Name a file')], [1, true]);
});
