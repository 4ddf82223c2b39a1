import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createSandbox, type Agent } from '@troupe/agent';
import { createAi, providersFrom } from '@troupe/ai';
import { createBlobs, type Blobs, type Database } from '@troupe/db';
import { testDatabase, testUser } from '@troupe/testing/database/server';
import { BUILT_IN_CATALOGUE } from '@troupe/domain';
import { createEmbedded, type Embedded } from '@troupe/fleet';
import { createOutbound, newId, silentLog, systemClock } from '@troupe/kernel';
import { testSettings } from '@troupe/testing/http/server';
import { createRoster } from '@troupe/roster';
import { finish, printTable } from '../lib/report.ts';
import { sideBySide } from '../lib/sides.ts';

/** A call of a tool with its workspace in the blob store, against one in a folder of this machine; all else is the same. */

const FILES = 200;

const CALLS = {
  read: 'read kept/7.txt',
  write: (number: number) => `write changed/${number % 20}.txt: ${number} ${'x'.repeat(2000)}`,
  shell_unchanged: 'run true',
  shell_writes: (number: number) => `run echo ${number} > by-shell-${number % 20}.txt`,
} as const;
type Call = keyof typeof CALLS;

interface Side {
  driver: Embedded;
  agent: Agent;
}

async function openSide(db: Database, dataDir: string, blobs?: Blobs): Promise<Side> {
  const model = createAi({ providers: providersFrom(testSettings()), catalogue: BUILT_IN_CATALOGUE, log: silentLog });
  const driver = createEmbedded({
    db,
    log: silentLog,
    version: '1.0.0',
    dataDir: path.join(dataDir, blobs ? 'blobs' : 'folder'),
    blobs,
    sandbox: createSandbox(),
    outbound: createOutbound(),
    thinking: () => ({ model }),
    verify: async () => undefined,
    publicUrl: (id) => id,
  });
  const { of } = createRoster({ db, clock: systemClock, sealKey: 'seal-of-tokens' });
  const id = newId();
  await of('ann').add([{ id, userId: 'ann', name: 'A', plan: 'network', status: 'running', model: 'm' }], Infinity);
  const agent = await driver.agent(id);
  if (!agent) throw new Error('there is no agent');
  await agent.configure({ safety: { maxTokensPerDay: 100_000_000 } });
  const files = await agent.workspace();
  for (let number = 0; number < FILES; number += 1) await files.write(`kept/${number}.txt`, `file ${number}`);
  return { driver, agent };
}

/** Each call in a conversation of its own, so that none is longer than the others. */
async function ask({ agent }: Side, content: string): Promise<void> {
  const answer = await agent.ask({ to: { channel: 'api', key: newId() }, content });
  if (answer.outcome !== 'done') throw new Error(`${content}: ${answer.outcome}`);
}

export async function benchBlobs(): Promise<void> {
  const database = await testDatabase();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'bench-blobs-'));
  await testUser(database.db, 'ann', { plan: 'network' });
  const folder = await openSide(database.db, dataDir);
  const kept = await openSide(database.db, dataDir, createBlobs({ db: database.db, log: silentLog }));
  try {
    const more: Record<string, number> = {};
    const rows = [];
    let number = 0;
    for (const name of Object.keys(CALLS) as Call[]) {
      const call = CALLS[name];
      const said = (): string => (typeof call === 'string' ? call : call((number += 1)));
      const rates = await sideBySide({ folder: () => ask(folder, said()), blobs: () => ask(kept, said()) });
      const [inFolder, inBlobs] = [1000 / rates.folder, 1000 / rates.blobs];
      more[name] = inBlobs - inFolder;
      rows.push({ call: name, folder_ms: inFolder, blobs_ms: inBlobs, ratio: inBlobs / inFolder, more_ms: more[name] });
    }
    printTable(`An answer with one call of a tool, in a workspace of ${FILES} files`, rows);
    finish('scale blobs', [
      { figure: 'read_more_ms', value: more['read'] ?? Infinity, atMost: 1 },
      { figure: 'shell_unchanged_more_ms', value: more['shell_unchanged'] ?? Infinity, atMost: 3 },
      { figure: 'write_more_ms', value: more['write'] ?? Infinity, atMost: 20 },
      { figure: 'shell_writes_more_ms', value: more['shell_writes'] ?? Infinity, atMost: 20 },
    ]);
  } finally {
    await folder.driver.close();
    await kept.driver.close();
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
