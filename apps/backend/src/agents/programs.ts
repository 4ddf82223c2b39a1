import path from 'node:path';
import { createProgramShelf, type ProgramShelf } from '@troupe/agent';
import { pinnedPrograms } from '@troupe/fleet';
import { closeAll, createOutbound, createWorkerPool, type Running } from '@troupe/kernel';
import type { BackendDeps } from '../deps.ts';

/** Programs of MCP servers that are npm packages: one folder of this machine's for all agents, looked through every hour. */

const NPM = 'https://registry.npmjs.org';
const SWEEP_MS = 3_600_000;

/** `shelf` undefined: the operator wants none. */
export function createProgramsHere({
  settings,
  db,
  dataDir,
  log,
}: BackendDeps): Running & { shelf: ProgramShelf | undefined } {
  if (settings.AGENT_PACKAGES === 'off') return { shelf: undefined, close: async () => {} };
  const registry = settings.NPM_REGISTRY_URL ?? NPM;
  // Archives may be anywhere public; of private hosts only the one that the operator named.
  const outbound = createOutbound({ privateHosts: [new URL(registry).host] });
  const pool = createWorkerPool();
  const shelf = createProgramShelf({
    root: path.join(dataDir, 'programs'),
    registry,
    outbound,
    pool,
    log,
    named: () => pinnedPrograms(db),
  });
  const timer = setInterval(() => {
    shelf.sweep().catch((err: unknown) => log.warn({ err }, 'programs that nobody names could not be removed'));
  }, SWEEP_MS).unref();
  return {
    shelf,
    async close() {
      clearInterval(timer);
      await closeAll([outbound, pool]);
    },
  };
}
