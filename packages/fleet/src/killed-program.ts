import { createSandbox } from '@troupe/agent';
import { createDatabase } from '@troupe/db';
import { createOutbound, silentLog, systemClock } from '@troupe/kernel';
import { createEmbedded } from './embedded.ts';
import { createFleet } from './fleet.ts';
import { createRoster, type AgentRow } from '@troupe/roster';

/** Does one action on an agent and kills itself, as a power cut would, before the step of that number. */
const [url = '', dataDir = '', agentId = '', action = '', killAt = '0', backupId = ''] = process.argv.slice(2);

let step = 0;
/** Counts each call of anything that changes something. */
function counted<T extends object>(target: T, names: readonly string[]): T {
  return new Proxy(target, {
    get(object, name, receiver) {
      const value: unknown = Reflect.get(object, name, receiver);
      if (typeof value !== 'function' || !names.includes(String(name))) return value;
      return (...args: unknown[]) => {
        step += 1;
        if (step === Number(killAt)) process.kill(process.pid, 'SIGKILL');
        return (value as (...given: unknown[]) => unknown).apply(object, args);
      };
    },
  });
}

const db = createDatabase({ url, log: silentLog });
const { system: roster } = createRoster({ db, clock: systemClock, sealKey: 'seal-of-tokens' });
const embedded = createEmbedded({
  db,
  log: silentLog,
  version: '1.0.0',
  dataDir,
  sandbox: createSandbox(),
  outbound: createOutbound(),
  thinking: () => {
    throw new Error('nobody thinks here');
  },
  verify: async () => undefined,
  publicUrl: (id) => id,
});
const fleet = createFleet({
  db,
  roster: counted(roster, ['get', 'change', 'delete', 'revert']),
  driver: counted(embedded, ['start', 'stop', 'remove', 'backup', 'restore', 'reset']),
  clock: systemClock,
  log: silentLog,
  dataDir,
  version: '1.0.0',
  leaseMs: 300,
});
const actions: Record<string, (agent: AgentRow) => Promise<unknown>> = {
  start: fleet.start,
  stop: fleet.stop,
  restart: fleet.restart,
  update: (agent) => fleet.update(agent),
  repair: fleet.repair,
  'reset-memory': fleet.resetMemory,
  remove: fleet.remove,
  backup: fleet.backUp,
  restore: (agent) => fleet.restore(agent, backupId),
};
const found = await roster.get(agentId);
await actions[action]!(found);
// Still here: the action has fewer steps than that.
process.exit(7);
