import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '@troupe/kernel';
import { TokenRefused, type ChannelDeps, type ChannelKind } from './channel.ts';

/**
 * Listens at a service, in one process at a time: whoever holds the channel's lease. Another takes over when it ends or
 * dies. Failures are waited out, longer each time; a refused token is final.
 */

const LEASE_MS = 30_000;
const MAX_WAIT_MS = 60_000;

export interface Listening {
  stop: () => Promise<void>;
}

export function keepListening(
  kind: ChannelKind,
  { agent, log, retryMs = 1000 }: ChannelDeps,
  listen: (signal: AbortSignal) => Promise<void>,
): Listening {
  const owner = newId();
  const over = new AbortController();
  const lease = { owner, ttlMs: LEASE_MS };

  async function holding(sessionId: string): Promise<void> {
    const lost = new AbortController();
    const timer = setInterval(() => void renew(), LEASE_MS / 3);
    async function renew(): Promise<void> {
      const held = await agent.store.renew(sessionId, lease).catch(() => undefined);
      if (held && !held.held) lost.abort();
    }
    const signal = AbortSignal.any([over.signal, lost.signal]);
    let wait = retryMs;
    try {
      while (!signal.aborted) {
        const began = Date.now();
        try {
          await listen(signal);
          await delay(retryMs, undefined, { signal });
        } catch (err) {
          if (signal.aborted) return;
          if (err instanceof TokenRefused) throw err;
          log.warn({ err, agentId: agent.id, channel: kind }, 'channel failed, trying again');
          wait = Date.now() - began > MAX_WAIT_MS ? retryMs : Math.min(wait * 2, MAX_WAIT_MS);
          await delay(wait, undefined, { signal }).catch(() => undefined);
        }
      }
    } finally {
      clearInterval(timer);
      await agent.store.release(sessionId, owner);
    }
  }

  async function takeTurn(): Promise<void> {
    // A session without events, made anew each time: a reset of the agent takes it away.
    const made = await agent.store.deliver({ to: { channel: kind, key: 'listener' }, events: [] });
    const sessionId = made?.session.id ?? '';
    if (await agent.store.claim(sessionId, lease)) await holding(sessionId);
    else await delay(LEASE_MS / 3, undefined, { signal: over.signal }).catch(() => undefined);
  }

  /** Ends when it is told to, or with a refused token. What the store fails at is waited out too. */
  async function run(): Promise<void> {
    let wait = retryMs;
    while (!over.signal.aborted) {
      try {
        await takeTurn();
        wait = retryMs;
      } catch (err) {
        if (over.signal.aborted) return;
        if (err instanceof TokenRefused) return refused(err);
        log.warn({ err, agentId: agent.id, channel: kind }, 'a channel’s place could not be kept, trying again');
        await delay(wait, undefined, { signal: over.signal }).catch(() => undefined);
        wait = Math.min(wait * 2, MAX_WAIT_MS);
      }
    }
  }

  async function refused(err: TokenRefused): Promise<void> {
    log.error({ err, agentId: agent.id, channel: kind }, 'channel stopped');
    await agent.store.log({ level: 'error', message: 'The service refused the channel’s token.', source: kind });
  }

  // Nobody awaits it before `stop`, so nothing may get out of it: the agent may be deleted at any moment.
  const running = run().catch((err: unknown) =>
    log.error({ err, agentId: agent.id, channel: kind }, 'the end of a channel was not noted'),
  );
  return {
    async stop() {
      over.abort();
      await running;
    },
  };
}
