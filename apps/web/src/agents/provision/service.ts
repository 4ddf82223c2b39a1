import { CallError, backend as onBackend, type ProvisionBody } from '@troupe/contract';
import type { Database } from '@troupe/db';
import type { Subscriber } from '@troupe/domain';
import { AppError, newId, type BackendClient, type Log, type User } from '@troupe/kernel';
import { asAppError } from '../../platform/reach.ts';
import { requireEntitlement } from '../agents/service.ts';
import type { Hosting } from './hosting.ts';
import { rememberInstance } from './store.ts';

export interface ProvisionDeps {
  db: Database;
  /** In the order they are tried. */
  backends: readonly BackendClient[];
  /** The last resort; undefined: not configured. */
  hosting: Hosting | undefined;
  log: Log;
  subscriber: (user: User) => Subscriber;
  disabled: boolean;
}

export type ProvisionService = ReturnType<typeof createProvision>;

const TIMEOUT_MS = 15_000;

export function createProvision({ db, backends, hosting, log, subscriber, disabled }: ProvisionDeps) {
  function check(body: ProvisionBody): void {
    const hasChannel = [body.channelTokenA, body.channelTokenB, body.channelTokenC].some(Boolean);
    if (!hasChannel && !body.autoProvision && body.agentType !== 'business')
      throw new AppError(400, 'At least one channel token required');
  }

  /** Undefined: nobody could; what a backend refuses is the answer. The same id each time, so that none makes a second. */
  async function hostedBy(user: User, body: ProvisionBody & { agentId: string }, address: string) {
    for (const backend of backends) {
      try {
        return await backend.as(user, address).call(onBackend.provision.create, { body, timeout: TIMEOUT_MS });
      } catch (error) {
        if (error instanceof CallError && error.status < 500) throw asAppError(error);
        log.warn({ err: error }, 'a backend could not provision');
      }
    }
    return undefined;
  }

  return {
    async provision(user: User, given: ProvisionBody, address: string) {
      if (disabled) throw new AppError(503, 'Provisioning is temporarily disabled. Contact support.');
      const plan = requireEntitlement(subscriber(user), given.plan, 'network');
      check(given);
      const body = { ...given, plan, agentId: newId() };
      const made = await hostedBy(user, body, address);
      if (made) {
        await rememberInstance(db, user.id, made);
        const { success, userId, subdomain, url, streamKey, liveStreamId, agentId, status } = made;
        return { success, userId, subdomain, url, streamKey, liveStreamId, agentId, status };
      }
      const hosted = await hosting?.provision(user, body).catch((error: unknown) => {
        if (error instanceof AppError && error.status < 500) throw error;
        log.error({ err: error }, 'the hosting platform could not provision');
        return undefined;
      });
      if (!hosted) throw new AppError(502, 'Provisioning failed: no backend could be reached');
      await rememberInstance(db, user.id, hosted);
      return { success: true as const, userId: user.id, ...hosted, status: 'deploying' as const };
    },
  };
}
