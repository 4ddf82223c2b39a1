import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import {
  agentChanged,
  agentRethinks,
  credentialEnded,
  mcpServerChanged,
  tasksWaiting,
  workLeft,
} from '@troupe/contract';
import { notify } from '@troupe/db';
import type { Fleet } from '@troupe/fleet';
import { closeAll, type Outbound, type Running, type Server } from '@troupe/kernel';
import type { BackendDeps } from '../deps.ts';
import type { Running as RunningDriver } from './driver.ts';
import type { Scheduler } from './scheduler/service.ts';

const RECOVER_MS = 5_000;
const GOODBYE_MS = 2_000;

/** Where this process itself is reached: it may listen on any free port. */
export function addressOf({ app }: Server): string | undefined {
  const address = app.server.address() as AddressInfo | null;
  if (address === null) return undefined;
  const everywhere = address.address === '0.0.0.0' || address.address === '::';
  const host = address.address.includes(':') ? `[${address.address}]` : address.address;
  return `http://${everywhere ? '127.0.0.1' : host}:${address.port}`;
}

interface Parts extends Omit<RunningDriver, 'shellOff' | 'browserOff'> {
  fleet: Fleet;
  scheduler: Scheduler;
  outbound: Outbound;
  configured: Outbound;
}

/** Takes up what other processes have left: from time to time, and when it is told that one has ended. */
function createRecovering({ fleet, channels }: Parts, { log }: BackendDeps) {
  const over = new AbortController();
  let told = new AbortController();
  async function look(): Promise<void> {
    await fleet.recover().catch((err: unknown) => log.error({ err }, 'unfinished work could not be taken up'));
    await channels.refresh().catch((err: unknown) => log.error({ err }, 'channels could not be looked up'));
  }
  return {
    async start(): Promise<void> {
      while (!over.signal.aborted) {
        told = new AbortController();
        await look();
        const signal = AbortSignal.any([over.signal, told.signal]);
        await delay(RECOVER_MS, undefined, { signal, ref: false }).catch(() => undefined);
      }
    },
    now: () => told.abort(),
    stop: () => over.abort(),
  };
}

/** Others need not wait until they look by themselves. A database that is away must not hold up the end. */
async function tellLeft({ db, log }: BackendDeps): Promise<void> {
  const told = [workLeft, tasksWaiting].map((signal) => notify(db.system, signal, ''));
  const all = Promise.all(told).catch((err: unknown) => log.warn({ err }, 'others were not told that this one ends'));
  await Promise.race([all, delay(GOODBYE_MS, undefined, { ref: false })]);
}

/** Begins when the server listens, ends when it closes. */
export function run(server: Server, deps: BackendDeps, parts: Parts): Running {
  const { listener, log } = deps;
  const { fleet, driver, evict, channels, scheduler, outbound, configured } = parts;
  const recovering = createRecovering(parts, deps);
  const stopListening = [
    listener.on(workLeft, () => recovering.now()),
    listener.on(credentialEnded, (principalId) => driver.cut(principalId)),
    listener.on(agentChanged, (notice) => {
      const agentId = fleet.heard(notice);
      if (agentId === undefined) return;
      evict(agentId).catch((err: unknown) => log.warn({ err, agentId }, 'an agent did not go to sleep'));
    }),
    listener.on(mcpServerChanged, ({ userId, name }) => {
      driver
        .forgetServer?.(userId, name)
        .catch((err: unknown) => log.warn({ err, userId }, 'what ran with an MCP server did not end'));
    }),
    listener.on(agentRethinks, (notice) => {
      const agentId = fleet.heard(notice);
      if (agentId === undefined) return;
      driver
        .rethink?.(agentId)
        .catch((err: unknown) => log.warn({ err, agentId }, 'an agent did not take over its plan or provider'));
    }),
  ];
  server.app.addHook('onListen', async () => {
    scheduler.start();
    void recovering.start();
  });
  // A task that became due now would find nobody to ask, and what others left is better off elsewhere.
  server.draining.addEventListener('abort', () => {
    scheduler.rest();
    recovering.stop();
  });
  // Those who waited as long as a stop waits have to go on elsewhere.
  server.closing.addEventListener('abort', () => driver.handOver?.());
  server.app.addHook('preClose', () => driver.disconnect());
  return {
    async close() {
      recovering.stop();
      for (const stop of stopListening) stop();
      await closeAll([outbound, configured, driver, channels, scheduler]);
      await tellLeft(deps);
    },
  };
}
