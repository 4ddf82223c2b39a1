import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { good, script, signIn, started, type Ask } from '@troupe/testing/backups/scripts';
import type { Reply } from '@troupe/testing/services/people';
import { ownSettings } from '@troupe/testing/processes/program';

/** `npm run backup` and `npm run restore` on a real platform: everything is there again, on nothing but the archive. */

const PLAN = 'first draft';

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
