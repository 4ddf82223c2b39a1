import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createInterface } from 'node:readline';
import { createPgStore, createSandbox } from '@troupe/agent';
import { createBlobs, type Blobs } from '@troupe/db';
import { createOutbound } from '@troupe/kernel';
import { createEmbedded, type Embedded } from './embedded.ts';
import { createFleet } from './fleet.ts';
import { newAgent, testGrounds, type Grounds } from './testing.ts';

const PROGRAM = new URL('two-machines-program.ts', import.meta.url).pathname;
const hasShell = (await createSandbox().unavailable()) === undefined;

describe('two machines with one database and no folder in common', () => {
  let grounds: Grounds;
  let blobs: Blobs;
  let here: Embedded;
  const folders: string[] = [];
  const newFolder = async (): Promise<string> => {
    const made = await mkdtemp(path.join(tmpdir(), 'machine-'));
    folders.push(made);
    return made;
  };
  const machine = async (folder?: string): Promise<Embedded> => {
    const { runtime, thinking, verify } = grounds;
    return createEmbedded({
      ...runtime,
      dataDir: folder ?? (await newFolder()),
      version: '1.0.0',
      blobs,
      sandbox: createSandbox(),
      outbound: createOutbound(),
      thinking,
      verify,
      publicUrl: (id) => id,
      leaseMs: 1_000,
    });
  };
  before(async () => {
    grounds = await testGrounds();
    blobs = createBlobs(grounds.runtime);
    here = await machine();
  });
  after(async () => {
    await here.close();
    await grounds.runtime.close();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });

  test('one is killed in the middle of its work and loses its disk: everything acknowledged is at the other', async () => {
    const { runtime } = grounds;
    const agents = [await newAgent(grounds), await newAgent(grounds)];
    const folder = await newFolder();
    const args = [PROGRAM, runtime.databaseUrl, folder, ...agents.map(({ id }) => id)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    const acknowledged = new Map<string, number>();
    for await (const line of createInterface({ input: child.stdout })) {
      const [agentId = '', number = ''] = line.split(' ');
      acknowledged.set(agentId, Number(number));
      if (acknowledged.size === agents.length && Math.min(...acknowledged.values()) >= 4) child.kill('SIGKILL');
    }
    await ended;
    assert.ok(existsSync(path.join(folder, 'copies')), 'it had a copy of its own');
    await rm(folder, { recursive: true });

    for (const { id } of agents) {
      const last = acknowledged.get(id) ?? -1;
      const files = await (await here.agent(id))!.workspace();
      for (let number = 0; number <= last; number += 1) {
        assert.equal(await files.read(`notes/${number}.txt`), `note ${number} of ${id}`);
        if (hasShell) assert.equal(await files.read(`by-shell-${number}.txt`), `${number}\n`);
      }
      const store = createPgStore({ db: runtime.db, userId: 'ann', agentId: id });
      assert.ok((await store.messages({ limit: 1, offset: 0 })).total >= 2 * (last + 1), 'and every message');
    }
    // What it was in the middle of is taken up here.
    for (let tries = 0; ; tries += 1) {
      await here.recover();
      const open = await runtime.db.system
        .selectFrom('agent_sessions')
        .select('id')
        .where('status', '=', 'open')
        .execute();
      if (open.length === 0) break;
      assert.ok(tries < 600, 'the work was not taken up');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });

  test('what is said to an agent here is seen there, by tools and by people', async () => {
    const there = await machine();
    const { id } = await newAgent(grounds);
    const say = async (on: Embedded, content: string, key: string) => {
      const answer = await (await on.agent(id))!.ask({ to: { channel: 'api', key }, content });
      return answer.reply;
    };
    await say(here, 'write a.txt: from here', 'one');
    assert.match(await say(there, 'read a.txt', 'two'), /from here/);
    await say(there, 'write a.txt: from there', 'two');
    assert.match(await say(here, 'read a.txt', 'one'), /from there/);
    const files = await (await there.agent(id))!.workspace();
    await files.put('uploads/plan.txt', [Buffer.from('a plan')] as never, { maxBytes: 100 });
    assert.match(await say(here, 'read uploads/plan.txt', 'one'), /a plan/);
    // Both at once, in conversations of their own.
    const both = await Promise.all(
      [here, there].map(async (on, index) => {
        for (let number = 0; number < 5; number += 1)
          await say(on, `write at-once/${index}-${number}.txt: x`, `k${index}`);
      }),
    );
    assert.equal(both.length, 2);
    for (const on of [here, there]) {
      const { entries } = await (await (await on.agent(id))!.workspace()).browse('at-once');
      assert.equal(entries.length, 10);
    }
    await there.close();
  });

  test('folders of a machine that was alone are brought in before it serves', async () => {
    const agents = [await newAgent(grounds), await newAgent(grounds)];
    const folder = await newFolder();
    for (const { id } of agents) {
      await mkdir(path.join(folder, 'workspaces', id), { recursive: true });
      await writeFile(path.join(folder, 'workspaces', id, 'old.txt'), `old ${id}`);
    }
    await mkdir(path.join(folder, 'workspaces', 'nobodys'));
    const there = await machine(folder);
    assert.equal(await there.adopt(), 2);
    assert.equal(await there.adopt(), 0);
    for (const { id } of agents) {
      const files = await (await here.agent(id))!.workspace();
      assert.equal(await files.read('old.txt'), `old ${id}`);
    }
    assert.deepEqual(
      (await readdir(path.join(folder, 'workspaces'))).sort(),
      [...agents.map(({ id }) => `${id}.stored`), 'nobodys'].sort(),
    );
    await there.close();
  });

  test('a backup that one made is put back by the other', async () => {
    const { runtime, roster } = grounds;
    const there = await machine();
    const [thisFolder, thatFolder] = [await newFolder(), await newFolder()];
    const common = { ...runtime, roster, blobs, version: '1.0.0' };
    const fleets = [
      createFleet({ ...common, driver: here, dataDir: thisFolder }),
      createFleet({ ...common, driver: there, dataDir: thatFolder }),
    ] as const;
    const agent = await newAgent(grounds);
    const files = async (on: Embedded) => (await on.agent(agent.id))!.workspace();
    await (await files(here)).write('word.txt', 'old');
    const backup = await fleets[0].backUp(agent);
    await rm(thisFolder, { recursive: true, force: true });
    await (await files(there)).write('word.txt', 'new');
    await (await files(there)).write('more.txt', 'more');
    const { safety } = await fleets[1].restore(agent, backup.id);
    // The signal of it comes over the database; here nobody listens to it.
    await here.evict(agent.id);
    for (const on of [here, there]) {
      assert.equal(await (await files(on)).read('word.txt'), 'old');
      await assert.rejects((await files(on)).read('more.txt'), { code: 'ENOENT' });
    }
    const { stream } = await fleets[0].backups.read(backup);
    let size = 0;
    for await (const piece of stream) size += piece.length;
    assert.equal(size, Number(backup.size));
    await fleets[0].restore(agent, safety.id);
    assert.equal(await (await files(here)).read('more.txt'), 'more');
    assert.deepEqual(
      (await readdir(thatFolder)).filter((name) => name !== 'copies'),
      [],
      'nothing is left beside',
    );

    await fleets[1].remove(agent);
    const left = await runtime.db.system
      .selectFrom('blob_files')
      .select('path')
      .where('tree_id', 'in', (trees) => trees.selectFrom('blob_trees').select('id').where('agent_id', '=', agent.id))
      .execute();
    assert.deepEqual(left, []);
    await there.close();
  });
});
