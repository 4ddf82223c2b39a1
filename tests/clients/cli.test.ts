import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { replyChat } from '@troupe/ai';
import { createTroupe } from '@troupe/client';
import { cookieOf, send } from '@troupe/testing/services/people';
import { startWorld, type World } from '@troupe/testing/services/world';

/** The command `troupe`, packed and installed as anybody would, against a platform that runs. */

const root = path.resolve(import.meta.dirname, '../..');
let world: World;
let home: string;
let command: string;
let agentId: string;

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

function run(program: string, args: string[], { env = {}, input = '' }: { env?: object; input?: string } = {}) {
  const child = spawn(program, args, {
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(input);
  const ended: Ended = { code: null, out: '', err: '' };
  child.stdout.on('data', (text: Buffer) => (ended.out += text.toString()));
  child.stderr.on('data', (text: Buffer) => (ended.err += text.toString()));
  const done = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ ...ended, code })));
  return { child, done };
}

const troupe = (args: string[], options?: Parameters<typeof run>[2]) =>
  run(process.execPath, [command, ...args], options).done;

async function done(...args: string[]): Promise<string> {
  const { code, out, err } = await troupe(args);
  assert.equal(code, 0, out + err);
  return out;
}

before(async () => {
  world = await startWorld();
  home = mkdtempSync(path.join(tmpdir(), 'troupe-cli-'));
  writeFileSync(path.join(home, 'package.json'), '{"private":true}');
  for (const room of ['packages/client', 'apps/cli']) {
    const { code, err } = await run('npm', ['pack', path.join(root, room), '--pack-destination', home]).done;
    assert.equal(code, 0, err);
  }
  const packed = ['troupe-client-0.1.0.tgz', 'troupe-cli-0.1.0.tgz'];
  const { code, err } = await run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...packed]).done;
  assert.equal(code, 0, err);
  command = path.join(home, 'node_modules/.bin/troupe');
});
after(async () => {
  await world.stop();
  rmSync(home, { recursive: true, force: true });
});

test('it says what it can do, and what was wrong with how it was called', async () => {
  const help = await troupe(['--help']);
  assert.equal(help.code, 0);
  for (const word of ['login', 'pair', 'agents', 'chat', 'tasks', 'files', 'usage', 'export', 'import', 'Exit codes'])
    assert.match(help.out, new RegExp(word));
  assert.match((await troupe(['--version'])).out, /^\d+\.\d+\.\d+\n$/);
  for (const args of [[], ['sing'], ['agents', 'paint'], ['agents', '--colour']]) {
    const wrong = await troupe(args, { env: { TROUPE_URL: world.services.web, TROUPE_KEY: 'x' } });
    assert.equal(wrong.code, 2, args.join(' ') + wrong.err);
  }
});

test('who is not signed in, or signs in wrongly, is told so', async () => {
  assert.deepEqual(await troupe(['agents']), { code: 3, out: '', err: 'troupe: Not signed in: use troupe login\n' });
  const wrong = await troupe(['login', '--url', world.services.web], { input: 'sk_wrong\n' });
  assert.equal(wrong.code, 3, wrong.err);
  const away = await troupe(['login', '--url', 'http://127.0.0.1:1', '--key', 'x']);
  assert.equal(away.code, 5, away.err);
  assert.equal((await troupe(['login', '--url', 'ftp://x', '--key', 'x'])).code, 2);
});

describe('by the browser', () => {
  let cookie: string;
  before(async () => {
    cookie = await cookieOf(world.services.runtime.db, world.user);
  });

  /** What the person does there: she is signed in, and is asked. */
  async function decide(approved: boolean) {
    const env = { TROUPE_CONFIG: path.join(home, `browser-${approved}.json`) };
    const { child, done: ended } = run(process.execPath, [command, 'login', '--browser', '--url', world.services.web], {
      env,
    });
    const [page = ''] = await new Promise<string[]>((resolve, reject) => {
      let said = '';
      child.stderr.on('data', (text: Buffer) => {
        const found = /\bhttps?:\S+(?=\n)/.exec((said += text.toString()));
        if (found) resolve(found);
      });
      child.on('close', () => reject(new Error(said)));
    });
    const asked = Object.fromEntries(new URL(page).searchParams);
    const query = new URLSearchParams(asked).toString();
    const shown = await send(`${world.services.web}/api/authorizations/request?${query}`, 'GET', undefined, { cookie });
    assert.match(shown.body.client.name, /^troupe on /);
    assert.deepEqual(
      shown.body.scopes.map(({ scope }: { scope: string }) => scope),
      ['account'],
    );
    const body = { ...asked, approved, scopes: ['account'] };
    const { redirect } = (await send(`${world.services.web}/api/authorizations`, 'POST', body, { cookie })).body;
    // Somebody who only knows the port gets nothing, and changes nothing.
    const guessed = new URL(redirect);
    guessed.searchParams.set('state', 'x');
    assert.equal((await fetch(guessed)).status, 404);
    const told = await (await fetch(redirect)).text();
    return { told, env, ...(await ended) };
  }

  test('a person who is signed in there lets the computer in, and sees its key among hers', async () => {
    const { code, err, told, env } = await decide(true);
    assert.equal(code, 0, err);
    assert.match(told, /^You are signed in/);
    assert.match((await troupe(['whoami'], { env })).out, new RegExp(world.user.email));
    const { body } = await send(`${world.services.web}/api/keys`, 'GET', undefined, { cookie });
    const mine = (body.keys as { id: string; name: string }[]).find(({ name }) => name.startsWith('troupe on '));
    assert.ok(mine);
    const programs = await send(`${world.services.web}/api/authorizations`, 'GET', undefined, { cookie });
    assert.deepEqual(programs.body.authorizations, []);
    const deleted = await send(`${world.services.web}/api/keys/${mine.id}`, 'DELETE', undefined, { cookie });
    assert.equal(deleted.status, 200, JSON.stringify(deleted.body));
    const after = await troupe(['whoami'], { env });
    assert.equal(after.code, 3, after.out + after.err);
  });

  test('who refuses it lets nobody in', async () => {
    const { code, err, told } = await decide(false);
    assert.equal(code, 1);
    assert.match(err, /did not let this computer in/);
    assert.match(told, /^Not signed in/);
  });
});

describe('signed in', () => {
  before(async () => {
    const signedIn = await troupe(['login', '--url', world.services.web], { input: `${world.user.key}\n` });
    assert.equal(signedIn.code, 0, signedIn.err);
    agentId = (JSON.parse(await done('agents', 'create', 'Ada', '--json')) as { id: string }).id;
  });

  test('the key is kept for its owner alone', async () => {
    const file = path.join(home, '.config/troupe/config.json');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.match(await done('whoami'), new RegExp(world.user.email));
  });

  test('agents are listed, shown and found by name', async () => {
    assert.match(await done('agents'), /^ID .*NAME .*STATUS/);
    const { agents } = JSON.parse(await done('agents', '--json')) as { agents: { id: string; name: string }[] };
    assert.deepEqual(
      agents.map(({ id, name }) => [id, name]),
      [[agentId, 'Ada']],
    );
    assert.match(await done('agents', 'show', 'ada'), new RegExp(agentId));
    const { code, err } = await troupe(['agents', 'show', 'Bob']);
    assert.deepEqual([code, err], [4, 'troupe: There is no agent Bob\n']);
  });

  test('an agent answers what is said or piped in', async () => {
    assert.equal(await done('chat', 'Ada', 'Say', 'hello.'), 'Hello from the provider.\n');
    const piped = await troupe(['chat', agentId, '--json'], { input: 'Say hello.' });
    assert.deepEqual(JSON.parse(piped.out), { reply: 'Hello from the provider.' });
    assert.equal((await troupe(['chat', 'Ada'])).code, 2);
  });

  test('an answer is shown while it comes, and Ctrl-C ends it', async () => {
    world.openrouter.answer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[{"index":0,"delta":{"content":"Once upon \\u001b[2Ja"}}]}\n\n');
    });
    const { child, done: ended } = run(process.execPath, [command, 'chat', 'Ada', 'Tell', '--topic', 'cut']);
    await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
    child.kill('SIGINT');
    const { code, out } = await ended;
    // What a terminal would take for a command is not passed on.
    assert.deepEqual([code, out], [130, 'Once upon [2Ja']);
    world.openrouter.answer((request, response) => replyChat(request, response));
  });

  test('tasks are made, listed and deleted', async () => {
    const args = ['--name', 'Daily', '--cron', '0 9 * * *', '--prompt', 'Report', '--timezone', 'Europe/Berlin'];
    const task = JSON.parse(await done('tasks', 'create', 'Ada', ...args, '--json')) as { id: string };
    assert.match(await done('tasks', '--agent', 'Ada'), /Daily +0 9 \* \* \*/);
    assert.match(await done('tasks', 'runs', task.id), /It has not run yet/);
    assert.equal((await troupe(['tasks', 'delete', task.id])).code, 2);
    await done('tasks', 'delete', task.id, '--yes');
    assert.match(await done('tasks'), /No tasks/);
    const bad = await troupe(['tasks', 'create', 'Ada', '--name', 'x', '--cron', 'never', '--prompt', 'x']);
    assert.deepEqual([bad.code, bad.err], [1, 'troupe: Invalid cron schedule\n']);
  });

  test('files are given, listed and fetched', async () => {
    writeFileSync(path.join(home, 'plan.txt'), 'Buy bread');
    assert.match(await done('files', 'put', 'Ada', 'plan.txt', 'notes/plan.txt'), /Stored notes\/plan\.txt/);
    assert.match(await done('files', 'Ada', 'notes'), /plan\.txt +file +9/);
    assert.equal(await done('files', 'get', 'Ada', 'notes/plan.txt', '-o', '-'), 'Buy bread');
    assert.equal((await troupe(['files', 'get', 'Ada', 'notes/none.txt', '-o', 'x'])).code, 4);
    const outside = await troupe(['files', 'get', 'Ada', '../../etc/passwd', '-o', 'x']);
    assert.equal(outside.code, 1, outside.out + outside.err);
  });

  test('usage is shown by day and by model', async () => {
    await world.usage(() => true);
    assert.match(await done('usage', '--days', '2'), /^DATE +TOKENS +TURNS +USD\n/);
    assert.match(await done('usage', '--by', 'model'), /gpt|gemini|claude|\//);
    assert.ok(Array.isArray((JSON.parse(await done('usage', '--json')) as { rows: unknown }).rows));
  });

  test('an agent is exported into a file, which is never written over', async () => {
    assert.match(await done('export', 'Ada', '-o', 'ada.gz'), /Saved ada\.gz/);
    const text = gunzipSync(readFileSync(path.join(home, 'ada.gz'))).toString();
    assert.match(text, /agent_sessions\.jsonl[^]*Hello from the provider\./);
    assert.equal((await troupe(['export', 'Ada', '-o', 'ada.gz'])).code, 1);
    // The copies that were made for it are gone again.
    const { backups } = await createTroupe({ url: world.services.web, key: world.user.key }).call(
      'GET /api/agents/:id/backups',
      { params: { id: agentId } },
    );
    assert.deepEqual(backups, []);
  });

  test('an agent is exported as a document, which can be imported again', async () => {
    assert.match(await done('export', 'Ada', '--yaml', '-o', 'ada.yaml'), /Saved ada\.yaml/);
    const text = readFileSync(path.join(home, 'ada.yaml'), 'utf8');
    assert.match(text, /^# Not in this document:/);
    const shown = JSON.parse(await done('import', 'ada.yaml', '--json')) as { agents: { name: string }[] };
    assert.deepEqual(
      shown.agents.map(({ name }) => name),
      ['Ada'],
    );
  });

  test('a device is paired once its owner says so, and talks to its agent only', async () => {
    const owner = createTroupe({ url: world.services.web, key: world.user.key });
    const { token } = await owner.call('GET /api/agents/:id/token', { params: { id: agentId } });
    const agentUrl = `${world.services.backend}/api/runtime/proxy/${agentId}`;
    const env = { TROUPE_CONFIG: path.join(home, 'device.json') };
    const args = ['pair', '--url', world.services.web, '--agent-url', agentUrl, '--token', token];
    const pairing = run(process.execPath, [command, ...args], { env });
    await new Promise<void>((resolve) => pairing.child.stdout.once('data', () => resolve()));
    const { pending } = await owner.call('GET /api/devices');
    await owner.call('POST /api/devices', { body: { deviceId: pending[0]!.id, action: 'approve' } });
    const { code, err } = await pairing.done;
    assert.equal(code, 0, err);
    const said = await troupe(['chat', 'Say', 'hello.'], { env });
    assert.deepEqual([said.code, said.out], [0, 'Hello from the provider.\n'], said.err);
    assert.equal((await troupe(['agents'], { env })).code, 3);
  });

  test('a folder of others is shown first, and imported when it is said so', async () => {
    const folder = path.join(home, 'claw');
    const long = `memory/${'a'.repeat(110)}.md`;
    mkdirSync(path.join(folder, 'memory'), { recursive: true });
    for (const [name, text] of Object.entries({ 'AGENTS.md': 'Be kind.', 'SOUL.md': 'Calm.', [long]: 'It rained.' }))
      writeFileSync(path.join(folder, name), text);
    symlinkSync('/etc/passwd', path.join(folder, 'passwd'));
    const shown = await troupe(['import', folder]);
    assert.equal(shown.code, 0, shown.err);
    assert.match(shown.out, /OpenClaw \(openclaw\): main/);
    assert.match(shown.out, /Nothing was made/);
    assert.equal(shown.err, 'troupe: passwd is a link or a device, and left out\n');
    const { files } = JSON.parse(await done('import', folder, '--json')) as { files: { path: string }[] };
    assert.ok(files.some((one) => one.path === long));
    const made = JSON.parse(await done('import', folder, '--yes', '--json')) as { agents: { agentId: string }[] };
    assert.equal(await done('files', 'get', made.agents[0]!.agentId, 'AGENTS.md', '-o', '-'), 'Be kind.');
    await done('agents', 'delete', made.agents[0]!.agentId, '--yes');
    writeFileSync(path.join(home, 'bad.yaml'), 'agents: { root: { hooks: { a: 1 } } }');
    const bad = await troupe(['import', path.join(home, 'bad.yaml')]);
    assert.equal(bad.code, 1);
    assert.match(bad.err, /Cannot be imported: Invalid team: agents\.root\.hooks/);
    assert.equal((await troupe(['import'])).code, 2);
  });

  test('cases are tried, and one that does not pass is an exit code', async () => {
    const troupeAt = createTroupe({ url: world.services.web, key: world.user.key });
    const add = (name: string, text: string) =>
      troupeAt.call('POST /api/agents/:id/evaluation-cases', {
        params: { id: agentId },
        body: { name, input: 'Say hello.', checks: [{ kind: 'contains', text }] },
      });
    await add('greets', 'Hello');
    assert.match(await done('eval', 'Ada'), /greets\s+passed/);
    await add('sings', 'la la la');
    const failed = await troupe(['eval', 'Ada', '--json']);
    assert.equal(failed.code, 1, failed.err);
    assert.match(failed.err, /1 of 2 cases have not passed/);
    const { status, results } = JSON.parse(failed.out) as { status: string; results: { status: string }[] };
    assert.deepEqual([status, results.map((one) => one.status)], ['failed', ['passed', 'failed']]);
    assert.equal((await troupe(['eval'])).code, 2);
  });

  test('an agent is deleted when that is meant, and who signs out is signed out', async () => {
    assert.equal((await troupe(['agents', 'delete', 'Ada'])).code, 2);
    await done('agents', 'delete', 'Ada', '--yes');
    assert.match(await done('agents'), /No agents yet/);
    await done('logout');
    assert.equal((await troupe(['agents'])).code, 3);
  });
});
