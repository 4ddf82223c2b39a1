import type { AddressInfo } from 'node:net';
import { agentChanged, agentRethinks, credentialEnded } from '@troupe/contract';
import type { Fleet } from '@troupe/fleet';
import { closeAll, type Outbound, type Running, type Server } from '@troupe/kernel';
import type { BackendDeps } from '../deps.ts';
import type { Running as RunningDriver } from './driver.ts';
import type { Scheduler } from './scheduler/service.ts';

const RECOVER_MS = 10_000;

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

/** Begins when the server listens, ends when it closes. */
export function run(server: Server, { listener, log }: BackendDeps, parts: Parts): Running {
  const { fleet, driver, evict, channels, scheduler, outbound, configured } = parts;
  let timer: NodeJS.Timeout | undefined;
  const stopListening = [
    listener.on(credentialEnded, (principalId) => driver.cut(principalId)),
    listener.on(agentChanged, (notice) => {
      const agentId = fleet.heard(notice);
      if (agentId === undefined) return;
      evict(agentId).catch((err: unknown) => log.warn({ err, agentId }, 'an agent did not go to sleep'));
    }),
    listener.on(agentRethinks, (notice) => {
      const agentId = fleet.heard(notice);
      if (agentId === undefined) return;
      driver
        .rethink?.(agentId)
        .catch((err: unknown) => log.warn({ err, agentId }, 'an agent did not take over its plan or provider'));
    }),
  ];
  async function recover(): Promise<void> {
    await fleet.recover().catch((err: unknown) => log.error({ err }, 'unfinished work could not be taken up'));
    await channels.refresh().catch((err: unknown) => log.error({ err }, 'channels could not be looked up'));
    if (!server.closing.aborted) timer = setTimeout(() => void recover(), RECOVER_MS).unref();
  }
  server.app.addHook('onListen', async () => {
    scheduler.start();
    void recover();
  });
  // A task that became due now would find nobody to ask.
  server.draining.addEventListener('abort', () => scheduler.rest());
  server.app.addHook('preClose', () => driver.disconnect());
  return {
    async close() {
      clearTimeout(timer);
      for (const stop of stopListening) stop();
      await closeAll([outbound, configured, driver, channels, scheduler]);
    },
  };
}
