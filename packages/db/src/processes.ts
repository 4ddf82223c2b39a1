import type pg from 'pg';
import { DEAD_SECONDS } from './schema-record.ts';
import type { SchemaFiles } from './schema-files.ts';

/** A process that works on the database, as others see it. */
export interface Enrolled {
  id: string;
  service: string;
}

/** Under the lock of the migrations, so that nobody takes away meanwhile what it needs. */
export async function enrol(client: pg.Client, { id, service }: Enrolled, files: SchemaFiles): Promise<void> {
  await client.query(
    `with gone as (delete from public.schema_processes where seen_at < now() - interval '${DEAD_SECONDS} seconds' and id <> $1)
     insert into public.schema_processes (id, service, knows, release) values ($1, $2, $3, $4)
     on conflict (id) do update set knows = excluded.knows, release = excluded.release, seen_at = now()`,
    [id, service, files.knows, files.release],
  );
}
