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
  return {
    async read() {
      const [database, reachable, redis] = await Promise.all([
        db.answers(),
        works(backend.call(onBackend.health.get, { timeout: BACKEND_TIMEOUT_MS })),
        hasRedis ? counters.healthy() : undefined,
      ]);
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
