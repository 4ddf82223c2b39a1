import type { SystemTx } from '@troupe/db';
import { sql } from 'kysely';

/** In the order of the users, so that two processes cannot wait for each other. */
export async function sayReading(tx: SystemTx, users: readonly string[], process: string, ms: number): Promise<void> {
  await sql`
    insert into live_readers (user_id, process, until)
    select id, ${process}, now() + make_interval(secs => ${ms / 1000}::float8)
    from unnest(${users}::text[]) as reader (id) order by id
    on conflict (user_id, process) do update set until = excluded.until`.execute(tx);
}

export async function dropOver(tx: SystemTx): Promise<void> {
  await sql`delete from live_readers where until < now()`.execute(tx);
}
