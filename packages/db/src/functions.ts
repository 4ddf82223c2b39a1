import type pg from 'pg';
import { StartError, type Log } from '@troupe/kernel';
import { byNeed, type SqlFunction } from './schema-files.ts';
import type { RecordedFunction } from './schema-record.ts';

interface Given {
  functions: readonly SqlFunction[];
  recorded: readonly RecordedFunction[];
  /** Processes of another release live, and may call what they know. */
  others: boolean;
  log: Log;
}

/** Another result or other names of arguments: a function cannot be replaced by such a one. */
const NOT_REPLACEABLE = '42P13';

/**
 * Brings the functions to what the files say, all or none. A function that an older process may call is not taken from
 * it: one with other arguments stands beside it, and what is left over goes when no process of another release lives.
 */
export async function applyFunctions(client: pg.Client, given: Given): Promise<string[]> {
  const { functions, recorded, others, log } = given;
  const changed = functions.filter((one) => !isOlder(one, given) && !isCurrent(one, recorded));
  const left = others ? [] : leftOver(functions, recorded);
  if (changed.length === 0 && left.length === 0) return [];
  await client.query('begin');
  try {
    for (const row of left) await forget(client, row, functions);
    await dropAll(client, left, await make(client, changed, given));
    await client.query('commit');
  } catch (cause) {
    await client.query('rollback').catch(() => {});
    if (cause instanceof StartError) throw cause;
    throw new StartError(
      `The functions of the database could not be renewed (${(cause as Error).message}): all are as they were.`,
      { cause },
    );
  }
  const applied = changed.map(({ name }) => name);
  log.info({ applied, dropped: left.map(({ name }) => name) }, 'functions of the database renewed');
  return applied;
}

/** One or more that stand now, and others of the same name that nobody calls any more. */
interface Made {
  stands: string[];
  goes: string[];
}

async function make(client: pg.Client, changed: readonly SqlFunction[], given: Given): Promise<Made> {
  const names = new Set(given.recorded.map(({ name }) => name));
  const made: Made = { stands: [], goes: [] };
  if (changed.every(({ name }) => !names.has(name))) await makeNew(client, changed);
  else
    for (const one of byNeed(changed)) {
      if (!names.has(one.name)) await makeNew(client, [one]);
      else {
        const { stands, goes } = await replace(client, one, given);
        made.stands.push(...stands);
        made.goes.push(...goes);
      }
    }
  return made;
}

/** Together and last: those that go may lean on each other, and those that stay did lean on them. */
async function dropAll(client: pg.Client, left: readonly RecordedFunction[], { stands, goes }: Made): Promise<void> {
  const shapes = left.flatMap(({ name, shape }) => (shape === null ? [] : [signature(name, shape)]));
  const dropped = [...new Set([...shapes, ...goes])].filter((one) => !stands.includes(one));
  if (dropped.length > 0) await client.query(`drop function if exists ${dropped.join(', ')}`);
}

const signature = (name: string, shape: string): string => `public.${name}(${shape})`;

/** All at once: in a new database that is most of the work. */
export async function makeNew(client: pg.Client, functions: readonly SqlFunction[]): Promise<void> {
  if (functions.length === 0) return;
  await client.query(
    byNeed(functions)
      .map(({ sql }) => sql)
      .join('\n'),
  );
  await client.query(
    `insert into public.schema_functions (name, checksum, shape, current)
     select name, checksum, oidvectortypes(proargtypes), true from unnest($1::text[], $2::text[]) as given (name, checksum)
     join pg_proc on pronamespace = 'public'::regnamespace and proname = given.name on conflict do nothing`,
    [functions.map(({ name }) => name), functions.map(({ checksum }) => checksum)],
  );
}

const isCurrent = ({ name, checksum }: SqlFunction, recorded: readonly RecordedFunction[]): boolean =>
  recorded.some((row) => row.current && row.name === name && row.checksum === checksum);

/** It was here and was replaced, by a newer release that still runs. */
const isOlder = ({ name, checksum }: SqlFunction, { recorded, others }: Given): boolean =>
  others && recorded.some((row) => !row.current && row.name === name && row.checksum === checksum);

/** Functions without a file, and shapes that a function had before. */
function leftOver(functions: readonly SqlFunction[], recorded: readonly RecordedFunction[]): RecordedFunction[] {
  const names = new Set(functions.map(({ name }) => name));
  const current = new Map(recorded.filter((row) => row.current).map(({ name, shape }) => [name, shape]));
  return recorded.filter(
    ({ name, shape, current: now }) => !names.has(name) || (!now && shape !== null && shape !== current.get(name)),
  );
}

/** What was replaced stays on record: by it an older release knows that it is older. */
async function forget(
  client: pg.Client,
  { name, checksum }: RecordedFunction,
  functions: readonly SqlFunction[],
): Promise<void> {
  if (functions.some((one) => one.name === name))
    await client.query('update public.schema_functions set shape = null where name = $1 and checksum = $2', [
      name,
      checksum,
    ]);
  else await client.query('delete from public.schema_functions where name = $1', [name]);
}

interface Shape {
  oid: string;
  xmin: string;
  shape: string;
  least: number;
  most: number;
}

async function shapesOf(client: pg.Client, name: string): Promise<Shape[]> {
  const { rows } = await client.query<Shape>(
    `select oid::text, xmin::text, oidvectortypes(proargtypes) as shape, pronargs - pronargdefaults as least, pronargs as most
     from pg_proc where pronamespace = 'public'::regnamespace and proname = $1`,
    [name],
  );
  return rows;
}

async function replace(client: pg.Client, one: SqlFunction, { recorded, others }: Given): Promise<Made> {
  const { name, checksum, sql } = one;
  const before = await shapesOf(client, name);
  await client.query('savepoint made');
  try {
    await client.query(sql);
  } catch (error) {
    if ((error as { code?: string }).code !== NOT_REPLACEABLE) throw error;
    if (others) throw besides(name, error);
    await client.query('rollback to savepoint made');
    for (const { shape } of before) await client.query(`drop function ${signature(name, shape)}`);
    await client.query(sql);
  }
  await client.query('release savepoint made');
  const after = await shapesOf(client, name);
  const made = after.find(({ oid, xmin }) => !before.some((old) => old.oid === oid && old.xmin === xmin));
  if (!made) throw new Error(`the file of ${name} made nothing`);
  const beside = after.filter(({ oid }) => oid !== made.oid);
  if (others && beside.some(({ least, most }) => least <= made.most && made.least <= most)) throw besides(name);
  // Back to what was here before, when nobody else is: what it displaces is not older, but forgotten.
  const back = recorded.some((row) => row.name === name && row.checksum === checksum);
  await client.query(
    back
      ? 'delete from public.schema_functions where name = $1 and current'
      : `update public.schema_functions set current = false, shape = case when $2 then shape end where name = $1`,
    back ? [name] : [name, others],
  );
  await client.query(
    `insert into public.schema_functions (name, checksum, shape, current) values ($1, $2, $3, true)
     on conflict (name, checksum) do update set shape = excluded.shape, current = true, applied_at = now()`,
    [name, checksum, made.shape],
  );
  return {
    stands: [signature(name, made.shape)],
    goes: others ? [] : beside.map(({ shape }) => signature(name, shape)),
  };
}

/** The functions that could not be renewed while processes of another release live. Changes nothing. */
export async function clashesOf(client: pg.Client, given: Given): Promise<string[]> {
  const names = new Set(given.recorded.map(({ name }) => name));
  const clashes: string[] = [];
  await client.query('begin');
  try {
    for (const one of given.functions) {
      if (!names.has(one.name) || isOlder(one, given) || isCurrent(one, given.recorded)) continue;
      await client.query('savepoint tried');
      try {
        await replace(client, one, given);
      } catch (error) {
        // One that needs tables which are still to be made is not told apart here.
        if (error instanceof StartError) clashes.push(one.name);
      }
      await client.query('rollback to savepoint tried');
    }
    return clashes;
  } finally {
    await client.query('rollback');
  }
}

const besides = (name: string, cause?: unknown): StartError =>
  new StartError(
    `The function ${name} of this version cannot stand beside the one that processes of another version still call: ` +
      'stop all of those, and start again. Nothing was changed.',
    { cause },
  );
