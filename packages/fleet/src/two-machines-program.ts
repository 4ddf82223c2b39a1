import { createSandbox } from '@troupe/agent';
import { createAi, providersFrom } from '@troupe/ai';
import { createBlobs, createDatabase } from '@troupe/db';
import { BUILT_IN_CATALOGUE } from '@troupe/domain';
import { createOutbound, silentLog } from '@troupe/kernel';
import { testSettings } from '@troupe/testing/http/server';
import { createEmbedded } from './embedded.ts';

/** A machine of its own with agents on it: has each write one file after another, and says so when it is acknowledged. */
const [url = '', dataDir = '', ...agentIds] = process.argv.slice(2);

const db = createDatabase({ url, log: silentLog });
const model = createAi({ providers: providersFrom(testSettings()), catalogue: BUILT_IN_CATALOGUE, log: silentLog });
const embedded = createEmbedded({
  db,
  log: silentLog,
  version: '1.0.0',
  dataDir,
  blobs: createBlobs({ db, log: silentLog }),
  sandbox: createSandbox(),
  outbound: createOutbound(),
  thinking: () => ({ model }),
  verify: async () => undefined,
  publicUrl: (id) => id,
  leaseMs: 1_000,
});

async function work(agentId: string): Promise<void> {
  const agent = await embedded.agent(agentId);
  for (let number = 0; ; number += 1) {
    const said = `write notes/${number}.txt: note ${number} of ${agentId}\nrun echo ${number} > by-shell-${number}.txt`;
    const answer = await agent?.ask({ to: { channel: 'api', key: 'k' }, content: said });
    if (answer?.outcome !== 'done') throw new Error(`not done: ${JSON.stringify(answer)}`);
    // One write, so that no line is half.
    process.stdout.write(`${agentId} ${number}\n`);
  }
}

await Promise.all(agentIds.map(work));
