import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createDatabase } from '@troupe/db';
import { silentLog } from '@troupe/kernel';
import { startPair } from '@troupe/testing/database/pair';
import { startService, type ServiceProcess } from '@troupe/testing/processes/service';
import { startLoad } from '../../tests/faults/rounds/load.ts';
import { createModel } from '../../tests/faults/rounds/model.ts';
import { finish, printTable } from '../lib/report.ts';
import { longestSilence } from '../lib/silence.ts';

/** How long nobody who writes is answered when the database's primary is killed and its standby promoted at once. */

const BEFORE_MS = 3_000;
const AFTER_MS = 6_000;

export async function benchFailover(): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-failover-'));
  const pair = await startPair();
  const model = await createModel();
  const running: ServiceProcess[] = [];
  const start = async (app: 'web' | 'backend', more: Record<string, string> = {}): Promise<ServiceProcess> => {
    const settings = { DATABASE_URL: pair.url, OPENROUTER_API_KEY: 'k', OPENROUTER_BASE_URL: model.url };
    const made = await startService(app, { ...settings, DATA_DIR: path.join(folder, app), ...more });
    running.push(made);
    return made;
  };
  const backend = await start('backend');
  const web = await start('web', { BACKEND_URL: backend.address });
  const db = createDatabase({ url: pair.url, log: silentLog });
  try {
    const load = await startLoad({ db, address: web.address });
    await delay(BEFORE_MS);
    const killed = performance.now();
    await pair.kill();
    await pair.promote();
    await delay(AFTER_MS);
    const until = performance.now();
    const answers = load.answeredAt();
    const { asked, answered } = await load.stop();
    const wrong = await load.look();
    const seconds = longestSilence(answers, killed, until) / 1000;
    printTable('The primary is killed under load', [{ asked, answered, 'lost or doubled': wrong.length, seconds }]);
    finish('scale failover', [
      { figure: 'seconds_without_answers', value: seconds, atMost: 15 },
      { figure: 'lost_or_doubled', value: wrong.length, atMost: 0 },
    ]);
  } finally {
    await Promise.all(running.map((one) => one.kill('SIGKILL')));
    await db.close();
    await model.close();
    await pair.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
