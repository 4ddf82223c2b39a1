import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { needs } from '@troupe/testing/machine/needs';
import { addUser, startServices, type Services, type TestUser } from '@troupe/testing/services/services';

/** Installations: the scripts are run as a person would run them, against a platform on loopback. */

let services: Services;
let user: TestUser;
let port: number;
const folder = mkdtempSync(path.join(tmpdir(), 'troupe-home-'));
const home = path.join(folder, 'troupe');

before(async () => {
  services = await startServices();
  user = await addUser(services.runtime, { plan: 'solo' });
  port = await freePort();
});
after(async () => {
  stopped('pid');
  stopped('heartbeat.pid');
  await services.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port: free } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return free;
}

/** Ends what a pid file names; false: it was not running. */
function stopped(file: string, signal: NodeJS.Signals | 0 = 'SIGTERM'): boolean {
  try {
    return process.kill(Number(readFileSync(path.join(home, file), 'utf8')), signal);
  } catch {
    return false;
  }
}
const isRunning = (file: string) => stopped(file, 0);

async function run(script: '/install' | '/link', env: Record<string, string> = {}) {
  const text = await (await fetch(services.web + script)).text();
  const child = spawn('sh', [], {
    env: {
      PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}`,
      HOME: folder,
      TROUPE_HOME: home,
      TROUPE_BACKEND_URL: services.backend,
      APP_API_KEY: user.key,
      AGENT_PORT: String(port),
      ...env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (output += String(chunk)));
  child.stdin.end(text);
  // `exit`, not `close`: the agent goes on and may keep the pipes.
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { code, output };
}

async function installations() {
  const response = await fetch(`${services.web}/api/installations`, {
    headers: { authorization: `Bearer ${user.key}` },
  });
  return (
    (await response.json()) as { installations: { user_id: string; mode: string; status: string; last_seen: string }[] }
  ).installations;
}

test('what is served is whole, and passes shellcheck', { skip: needs('shellcheck') }, async () => {
  for (const script of ['/install', '/link']) {
    const text = await (await fetch(services.backend + script)).text();
    assert.doesNotMatch(text, /common\.sh|@[A-Z_]+@/);
    const { status, stdout } = spawnSync('shellcheck', ['-'], { input: text, encoding: 'utf8' });
    assert.equal(status, 0, stdout);
  }
});

describe('GET /install', () => {
  test('a key that is not accepted stops it, and nothing is left behind', async () => {
    const { code, output } = await run('/install', { APP_API_KEY: `sk_${'0'.repeat(64)}` });
    assert.equal(code, 1, output);
    assert.match(output, /the key was not accepted/);
    assert.equal(existsSync(home), false);
  });

  test('something that is no key is told before anything is asked', async () => {
    const { code, output } = await run('/install', { APP_API_KEY: 'hunter2' });
    assert.equal(code, 1);
    assert.match(output, /it starts with sk_/);
  });

  test('installs, starts, registers and sends heartbeats', async () => {
    const { code, output } = await run('/install');
    assert.equal(code, 0, output);
    assert.match(output, /done: the agent runs/);
    assert.doesNotMatch(output, new RegExp(user.key));
    assert.equal((await fetch(`http://127.0.0.1:${port}/health`)).status, 200);
    const [found] = await installations();
    assert.deepEqual([found?.user_id, found?.mode, found?.status], [user.id, 'home', 'active']);
    assert.match(readFileSync(path.join(home, 'token'), 'utf8').trim(), /^[0-9a-f]{48}$/);
  });

  test('its heartbeat reaches the platform', async () => {
    await services.runtime.db.system
      .updateTable('installations')
      .set({ last_seen: new Date(0) })
      .where('user_id', '=', user.id)
      .execute();
    // The runner beats once a minute and at its start: start it anew and wait for the first one.
    assert.equal((await run('/install')).code, 0);
    while (new Date((await installations())[0]?.last_seen ?? 0).getTime() === 0) await delay(50);
    assert.equal((await installations())[0]?.status, 'active');
  });

  test('can be run twice: one agent runs, with the token it had', async () => {
    const token = readFileSync(path.join(home, 'token'), 'utf8');
    const { code, output } = await run('/install');
    assert.equal(code, 0, output);
    assert.match(output, /stopping the runtime of an earlier run/);
    assert.equal(readFileSync(path.join(home, 'token'), 'utf8'), token);
    assert.equal((await fetch(`http://127.0.0.1:${port}/health`)).status, 200);
    assert.equal((await installations()).length, 1);
  });
});

describe('GET /link', () => {
  test('connects the agent that runs already', async () => {
    const { code, output } = await run('/link', { AGENT_URL: `http://127.0.0.1:${port}` });
    assert.equal(code, 0, output);
    assert.equal((await installations())[0]?.mode, 'link');
    assert.equal(isRunning('heartbeat.pid'), true);
  });

  test('says when no agent answers', async () => {
    const { code, output } = await run('/link', { AGENT_URL: 'http://127.0.0.1:1' });
    assert.equal(code, 1);
    assert.match(output, /no agent answers at/);
  });
});
