import { agentChanged, agentRethinks } from '@troupe/contract';
import { notify, type SystemTx } from '@troupe/db';
import { newId } from '@troupe/kernel';
import type { AgentRow } from '@troupe/roster';
import { createBackups, type BackupRow, type Backups } from './backups.ts';
import type { Driver, Placement } from './driver.ts';
import type { FleetDeps } from './fleet-deps.ts';
import { createLife } from './life.ts';
import { lookAround, startAbandoned, type Serially } from './looking.ts';
import { createOperations } from './operations.ts';
import { redo, ROTATE } from './redoing.ts';
import { createRemoval } from './removal.ts';
import { createReverting, type Updated } from './reverting.ts';
import { withinPlan } from './within-plan.ts';

export type { FleetDeps, Updated };

/** The lives of agents: each action at most once at a time, and finished by another process when this one dies. */
export interface Fleet {
  readonly driver: Driver;
  /** Makes it run. Whether it ran before is told by `was`. */
  start: (agent: AgentRow) => Promise<{ agent: AgentRow; was: string; placement: Placement }>;
  stop: (agent: AgentRow) => Promise<AgentRow>;
  restart: (agent: AgentRow) => Promise<AgentRow>;
  update: (agent: AgentRow, image?: string) => Promise<Updated>;
  repair: (agent: AgentRow) => Promise<AgentRow>;
  /** A new gateway token, in force when this answers, also inside of what runs; `record` is part of its transaction. */
  rotateToken: (agent: AgentRow, record: (tx: SystemTx) => Promise<void>) => Promise<string>;
  /** Ends what still runs of an agent whose row says that it is stopped. */
  settle: (agentId: string) => Promise<void>;
  resetMemory: (agent: AgentRow) => Promise<void>;
  remove: (agent: AgentRow) => Promise<void>;
  readonly backups: Pick<Backups, 'list' | 'get' | 'read' | 'settingsOf'>;
  backUp: (agent: AgentRow) => Promise<BackupRow>;
  /** Puts it back to a backup, and tells which one holds what it was before. */
  restore: (agent: AgentRow, backupId: string) => Promise<{ agent: AgentRow; safety: BackupRow }>;
  deleteBackup: (agent: AgentRow, backupId: string) => Promise<void>;
  /** Its row has another plan or provider: every process takes that over at once, running work too. */
  rethink: (agentId: string) => Promise<void>;
  /** The agent that a signal is about; undefined: this process told it. */
  heard: (told: { from: string; agentId: string }) => string | undefined;
  /** Takes up what is due: actions and work that processes which died have left. */
  recover: () => Promise<void>;
}

export function createFleet(deps: FleetDeps): Fleet {
  const { db, roster, driver, log, leaseMs } = deps;
  const self = newId();
  const tell = (agentId: string, what = agentChanged): Promise<void> =>
    notify(db.system, what, { from: self, agentId });
  const backups = createBackups(deps);
  const life = createLife({ ...deps, tell });
  const reverting = createReverting({ ...deps, backups, life });
  const removal = createRemoval({ ...deps, backups, tell });
  const operations = createOperations({
    db,
    log,
    redo: (...left) => redo({ roster, driver, backups, life, reverting, removal }, ...left),
    ...(leaseMs !== undefined && { leaseMs }),
  });

  /** The newest row: what was read before the wait for our turn may be old. */
  const serially: Serially = (agent, action, work) =>
    operations.run(agent.id, action, async (turn) => work(await roster.get(agent.id), turn));

  return {
    driver,
    start: (agent) =>
      withinPlan(roster, agent, () =>
        serially(agent, 'start', async (now) => ({ was: now.status, ...(await life.bringUp(now)) })),
      ),
    stop: (agent) => serially(agent, 'stop', life.stop),
    restart: (agent) => withinPlan(roster, agent, () => serially(agent, 'restart', life.again)),
    update: (agent, image) =>
      withinPlan(roster, agent, () => serially(agent, 'update', (now) => reverting.update(now, image))),
    repair: (agent) => withinPlan(roster, agent, () => serially(agent, 'repair', life.again)),
    async rethink(agentId) {
      await driver.rethink?.(agentId);
      await tell(agentId, agentRethinks);
    },
    heard: ({ from, agentId }) => (from === self ? undefined : agentId),
    rotateToken: (agent, record) => serially(agent, ROTATE, (now) => life.rotateToken(now, record)),
    async settle(agentId) {
      const agent = await roster.find(agentId);
      // Its owner may have started it meanwhile.
      if (agent)
        await serially(agent, 'stop', async (now) => (now.status === 'stopped' ? life.takeDown(now) : undefined));
    },
    resetMemory: (agent) => serially(agent, 'reset-memory', (now) => driver.reset(now)),
    remove: (agent) => serially(agent, 'remove', removal.remove),
    backups,
    backUp: (agent) => serially(agent, 'backup', (now) => backups.make(now, 'manual')),
    restore: (agent, backupId) => serially(agent, 'restore', (now, turn) => reverting.restore(now, backupId, turn)),
    deleteBackup: (agent, backupId) =>
      serially(agent, 'delete-backup', async (now) => backups.delete(await backups.get(now, backupId))),
    async recover() {
      await operations.recover();
      await startAbandoned({ ...deps, life, serially });
      await lookAround({ ...deps, life, serially });
      await driver.recover();
    },
  };
}
