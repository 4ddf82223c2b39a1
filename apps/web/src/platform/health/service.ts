import { backend as onBackend } from '@troupe/contract';
import type { Database } from '@troupe/db';
import { iso, type BackendClient, type Clock, type Counters } from '@troupe/kernel';

export interface HealthDeps {
  db: Database;
  backend: BackendClient;
  counters: Counters;
  hasRedis: boolean;
  clock: Clock;
}

export type HealthService = ReturnType<typeof createHealth>;

const BACKEND_TIMEOUT_MS = 2000;

const works = (attempt: Promise<unknown>): Promise<boolean> =>
  attempt.then(
    () => true,
    () => false,
  );

export function createHealth({ db, backend, counters, hasRedis, clock }: HealthDeps) {
  const look = () =>
    Promise.all([
      db.answers(),
      works(backend.call(onBackend.health.get, { timeout: BACKEND_TIMEOUT_MS })),
      hasRedis ? counters.healthy() : undefined,
    ]);
  /** Anybody may ask, as often as they like: who comes while it is looked at hears the same. */
  let looking: ReturnType<typeof look> | undefined;
  return {
    async read() {
      looking ??= look().finally(() => (looking = undefined));
      const [database, reachable, redis] = await looking;
      const health = !database ? 'unhealthy' : reachable && redis !== false ? 'healthy' : 'degraded';
      return {
        status: 'ok' as const,
        health: health as 'healthy' | 'degraded' | 'unhealthy',
        timestamp: iso(clock()),
        checks: { database, backend: reachable, ...(redis === undefined ? {} : { redis }) },
      };
    },
  };
}
