import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createPgStore, createSandbox } from '@troupe/agent';
import { createOutbound } from '@troupe/kernel';
import { putTogether } from '@troupe/testing/processes/together';
import { createEmbedded, type Embedded } from './embedded.ts';
import { createFleet, type Fleet } from './fleet.ts';
import { newAgent, testGrounds, type Grounds } from './testing.ts';

const PROGRAM = new URL('killed-program.ts', import.meta.url).pathname;
const FINISHED = 7;

describe('an action whose process is killed', { concurrency: true }, () => {
  let grounds: Grounds;
  let driver: Embedded;
  let fleet: Fleet;
  let program: Awaited<ReturnType<typeof putTogether>>;
  before(async () => {
    program = await putTogether(PROGRAM);
    grounds = await testGrounds();
    const { runtime, roster, thinking, verify } = grounds;
    driver = createEmbedded({
      ...runtime,
      version: '1.0.0',
      sandbox: createSandbox(),
      outbound: createOutbound(),
      thinking,
      verify,
      publicUrl: (id) => id,
    });
    fleet = createFleet({ ...runtime, roster, driver, version: '1.0.0', leaseMs: 300 });
  });
  after(async () => {
    await driver.close();
    await grounds.runtime.close();
    await program.remove();
  });

  const runUntilKilled = (agentId: string, action: string, step: number, more = ''): Promise<number | null> =>
    new Promise((resolve, reject) => {
      const { databaseUrl, dataDir } = grounds.runtime;
      const args = [program.file, databaseUrl, dataDir, agentId, action, String(step), more];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
      child.once('error', reject);
      child.once('exit', resolve);
    });

  /** Until nobody holds the agent any more. The tests beside this one recover too, and may have taken it first. */
  async function recovered(agentId: string): Promise<void> {
    for (let tries = 0; tries < 200; tries += 1) {
      await fleet.recover();
      const held = await grounds.runtime.db.system
        .selectFrom('agent_operations')
        .select('agent_id')
        .where('agent_id', '=', agentId)
        .execute();
      if (held.length === 0) return;
      await delay(50);
    }
    assert.fail(`${agentId} is still held`);
  }

  const ends: Record<string, readonly string[]> = {
    start: ['running'],
    stop: ['stopped'],
    restart: ['running'],
    update: ['running'],
    repair: ['running'],
    'reset-memory': ['running'],
    remove: ['gone'],
    backup: ['running'],
  };
  for (const [action, wanted] of Object.entries(ends)) {
    test(`${action}: another process finishes it, at whichever step it was cut`, async () => {
      const { roster, runtime } = grounds;
      for (let step = 1; ; step += 1) {
        const agent = await newAgent(grounds);
        const code = await runUntilKilled(agent.id, action, step);
        if (code === FINISHED) {
          assert.ok(step > 1, 'it was killed at least once');
          await roster.delete(agent.id);
          return;
        }
        assert.equal(code, null, `step ${step} of ${action}`);
        await delay(320);
        await recovered(agent.id);
        const found = await roster.find(agent.id);
        assert.ok(wanted.includes(found?.status ?? 'gone'), `${action} ${step}: ${found?.status ?? 'gone'}`);
        if (found) assert.ok(await roster.definition(found));
        if (found) await fleet.remove(found);
        for (let tries = 0; tries < 100 && existsSync(`${runtime.dataDir}/workspaces/${agent.id}`); tries += 1)
          await delay(50);
        assert.ok(!existsSync(`${runtime.dataDir}/workspaces/${agent.id}`));
      }
    });
  }

  test('restore: the agent is wholly as it was or wholly as the backup has it, and can be put back', async () => {
    const { roster, runtime } = grounds;
    const ended = new Set<string>();
    for (let step = 1; ; step += 1) {
      const agent = await newAgent(grounds);
      const store = createPgStore({ db: runtime.db, userId: 'ann', agentId: agent.id });
      const workspace = `${runtime.dataDir}/workspaces/${agent.id}`;
      const put = async (word: string): Promise<void> => {
        await store.remember({ scope: 'agent', key: 'word', content: word }, { maxEntries: 9, ttlDays: 9 });
        await mkdir(workspace, { recursive: true });
        await writeFile(`${workspace}/word`, word);
        await roster.change(agent.id, { name: word });
      };
      const words = async () => [
        (await store.recall({ scope: 'agent', limit: 1 }))[0]?.content,
        await readFile(`${workspace}/word`, 'utf8'),
        (await roster.get(agent.id)).name,
      ];
      await put('old');
      const backup = await fleet.backUp(await roster.get(agent.id));
      await put('new');
      const code = await runUntilKilled(agent.id, 'restore', step, backup.id);
      if (code !== FINISHED) await delay(320);
      await recovered(agent.id);
      const [word = '', ...others] = await words();
      assert.ok(['old', 'new'].includes(word), word);
      assert.deepEqual(others, [word, word], `step ${step}`);
      ended.add(word);
      const now = await roster.get(agent.id);
      assert.equal(now.status, 'running');
      // Whatever happened, the backup is there and does its work, and so does the one of what was there before.
      const { safety } = await fleet.restore(now, backup.id);
      assert.deepEqual(await words(), ['old', 'old', 'old']);
      await fleet.restore(now, safety.id);
      assert.deepEqual(await words(), [word, word, word]);
      const rows = (await fleet.backups.list(now)).map(({ id }) => `${id}.tar.gz`);
      assert.deepEqual((await readdir(`${runtime.dataDir}/backups/${agent.id}`)).sort(), rows.sort());
      await fleet.remove(now);
      if (code === FINISHED) break;
    }
    assert.deepEqual([...ended].sort(), ['new', 'old'], 'it was cut before and after something changed');
  });
});
