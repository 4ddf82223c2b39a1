import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type pg from 'pg';
import type { Log } from '@troupe/kernel';
import type { SchemaFiles } from './schema-files.ts';
import { DEAD_SECONDS, Outdated } from './schema-record.ts';
import type { Database } from './scopes.ts';

/** A process that works on the database, as others see it. */
export interface Enrolled {
  id: string;
  service: string;
}

const BEAT_MS = 10_000;
const GOODBYE_MS = 2_000;

/** Under the lock of the migrations, so that nobody takes away meanwhile what it needs. */
export async function enrol(client: pg.Client, { id, service }: Enrolled, files: SchemaFiles): Promise<void> {
  await client.query(
    `with gone as (delete from public.schema_processes where seen_at < now() - interval '${DEAD_SECONDS} seconds' and id <> $1)
     insert into public.schema_processes (id, service, knows, release) values ($1, $2, $3, $4)
     on conflict (id) do update set knows = excluded.knows, release = excluded.release, seen_at = now()`,
    [id, service, files.knows, files.release],
  );
}

export interface MemberOptions {
  db: Database;
  log: Log;
  id: string;
  /** Something waits for processes of other releases to end. */
  waits: boolean;
  /** Brings the database up to date once more, and enrols again. */
  again: () => Promise<{ waits: boolean }>;
  /** The database went on without this process, which cannot work on it any more. */
  onLost: (error: unknown) => void;
  beatMs?: number;
}

/**
 * Says again and again that the process lives. Who was taken for dead enrols again, if the database is still one for it;
 * and what had to wait for older processes is done when the last of them is gone.
 */
export function remainMember(options: MemberOptions): { close: () => Promise<void> } {
  const { db, log, id, again, onLost, beatMs = BEAT_MS } = options;
  let waits = options.waits;
  const refresh = once(async () => {
    try {
      ({ waits } = await again());
    } catch (error) {
      if (error instanceof Outdated) onLost(error);
      else log.warn({ err: error }, 'the database could not be brought up to date');
    }
  });
  const beat = once(async () => {
    try {
      const { known, alone } = await sayAlive(db, id);
      // Not awaited: it may take minutes, in which the heart has to beat.
      if (!known || (waits && alone)) void refresh();
    } catch (error) {
      log.warn({ err: error }, 'the database was not told that this process lives');
    }
  });
  const timer = setInterval(() => void beat(), beatMs).unref();
  return {
    close: async () => {
      clearInterval(timer);
      // Whoever is under way must not enrol again afterwards.
      await soon(Promise.all([beat.done(), refresh.done()]));
      const told = sql`delete from schema_processes where id = ${id}`.execute(db.system).catch((error: unknown) => {
        log.warn({ err: error }, 'the database was not told that this process ends');
      });
      // A database that is away must not hold up the end: its record forgets who is silent.
      await soon(told);
    },
  };
}

const soon = (work: Promise<unknown>): Promise<unknown> =>
  Promise.race([work, delay(GOODBYE_MS, undefined, { ref: false })]);

/** Work that does not run twice at a time. */
function once(work: () => Promise<void>) {
  let running: Promise<void> | undefined;
  const run = (): Promise<void> =>
    (running ??= work().finally(() => {
      running = undefined;
    }));
  return Object.assign(run, { done: async () => running });
}

async function sayAlive(db: Database, id: string): Promise<{ known: boolean; alone: boolean }> {
  const { rows } = await sql<{ known: boolean; alone: boolean }>`
    with me as (update schema_processes set seen_at = now() where id = ${id} returning release)
    select exists (select from me) as known, not exists (select from schema_processes
      where release <> (select release from me) and seen_at > now() - make_interval(secs => ${DEAD_SECONDS})) as alone`.execute(
    db.system,
  );
  return rows[0] ?? { known: false, alone: false };
}
