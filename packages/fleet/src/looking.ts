import { setTimeout as delay } from 'node:timers/promises';
import type { AgentRow } from '@troupe/roster';
import type { FleetDeps } from './fleet-deps.ts';
import { RUNNING, type Life } from './life.ts';
import type { Turn } from './operations.ts';

const ABANDONED_MS = 60_000;
const SETTLE_MS = 1500;
const NOT_RUNNING = 'The agent’s container is not running';

/** Work while nobody else acts on the agent, with its newest row. */
export type Serially = <T>(
  agent: AgentRow,
  action: string,
  work: (now: AgentRow, turn: Turn) => Promise<T>,
) => Promise<T>;

interface LookDeps extends Pick<FleetDeps, 'db' | 'roster' | 'driver' | 'clock' | 'log'> {
  life: Life;
  serially: Serially;
}

const wrong = ({ id, status, lost }: AgentRow, now: ReadonlySet<string>): boolean =>
  status === 'running' ? !now.has(id) : (status === 'stopped' || lost) && now.has(id);

/** Made by a web process that died, or lost its way, before the backend heard of them. */
export async function startAbandoned({ roster, clock, life, serially }: LookDeps): Promise<void> {
  for (const agent of await roster.abandoned(new Date(clock().getTime() - ABANDONED_MS)))
    await serially(agent, 'start', life.bringUp).catch(() => undefined);
}

/** What runs elsewhere may end, or come back, without us. The row tells the truth about both. */
export async function lookAround({ db, roster, driver, log, life, serially }: LookDeps): Promise<void> {
  if (!driver.alive) return;
  const alive = await driver.alive();
  if (!alive) return;
  const rows = await db.system
    .selectFrom('agents')
    .selectAll()
    .where('driver', 'is', null)
    .where((where) =>
      where.or([
        where('status', '=', 'running'),
        where('lost', '=', true),
        where.and([where('status', '=', 'stopped'), where('id', 'in', [...alive, ''])]),
      ]),
    )
    .execute();
  const suspects = rows.filter((row) => wrong(row, alive));
  // Between an end and the engine's own new start lies a moment.
  if (suspects.length > 0) await delay(SETTLE_MS);
  for (const agent of suspects)
    await serially(agent, 'look', async (now) => {
      const still = await driver.alive?.();
      if (!still || !wrong(now, still)) return;
      log.warn({ agentId: now.id, status: now.status }, 'an agent does not run as its row says');
      if (now.status === 'stopped') return life.takeDown(now);
      if (now.status !== 'running') return void (await roster.change(now.id, RUNNING));
      await life.markFailed(now, NOT_RUNNING, true);
    }).catch((err: unknown) => log.warn({ err, agentId: agent.id }, 'an agent could not be looked at'));
}
