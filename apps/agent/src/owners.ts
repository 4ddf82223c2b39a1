import { createPinFile, createProgramShelf, type OwnersServer, type OwnersServers } from '@troupe/agent';
import { backend } from '@troupe/contract';
import { AppError, createOutbound, type Log, type Outbound, type WorkerPool } from '@troupe/kernel';
import path from 'node:path';
import type { AgentSettings } from './settings.ts';

/** MCP servers of its owner's, which the platform keeps, and programs of servers that are npm packages. */

const ASK_MS = 10_000;
/** A run asks before each step. */
const KEPT_MS = 10_000;
const SWEEP_MS = 3_600_000;

export function ownersOf({ PLATFORM_URL, PLATFORM_KEY, GATEWAY_TOKEN }: AgentSettings, outbound: Outbound, log: Log) {
  if (PLATFORM_URL === undefined) return {};
  const headers = { authorization: `Bearer ${PLATFORM_KEY ?? GATEWAY_TOKEN}`, 'content-type': 'application/json' };
  let last: readonly OwnersServer[] = [];
  const owners: OwnersServers = {
    keptMs: KEPT_MS,
    async list() {
      try {
        const options = { headers, timeout: ASK_MS, redirects: 0 };
        const response = await outbound.fetch(PLATFORM_URL + backend.servers.listForAgent.path, options);
        const body = (await response.json()) as { servers?: OwnersServer[]; error?: string };
        if (response.status !== 200 || !body.servers)
          throw new AppError(502, body.error ?? `answered ${response.status}`);
        last = body.servers;
      } catch (err) {
        // A platform that is away for a moment, or is older, takes no tools away.
        log.warn({ err }, 'the MCP servers of the owner could not be looked up');
      }
      return last;
    },
    async told(shared, tried) {
      const { path: where } = backend.servers.tell;
      const body = JSON.stringify(tried);
      const url = PLATFORM_URL + where.replace(':id', encodeURIComponent(shared));
      const response = await outbound.fetch(url, { method: 'POST', headers, body, timeout: ASK_MS, redirects: 0 });
      response.cancel();
    },
  };
  return { owners };
}

export function programsOf({ DATA_DIR, NPM_REGISTRY_URL: registry }: AgentSettings, pool: WorkerPool, log: Log) {
  const pins = createPinFile(path.join(DATA_DIR, 'pins.json'));
  const outbound = createOutbound({ privateHosts: [new URL(registry).host] });
  const shelf = createProgramShelf({
    root: path.join(DATA_DIR, 'programs'),
    registry,
    outbound,
    pool,
    log,
    named: pins.named,
  });
  const timer = setInterval(() => {
    shelf.sweep().catch((err: unknown) => log.warn({ err }, 'programs that nobody names could not be removed'));
  }, SWEEP_MS).unref();
  return {
    programs: { shelf, pins },
    async close() {
      clearInterval(timer);
      await outbound.close();
    },
  };
}
