import type { Database, SystemTx } from '@troupe/db';
import { sql } from 'kysely';
import type { Batch } from './batch.ts';

const EVERY_ADMINISTRATOR = '*';

/** Writes a batch once, however often it is tried. */
export async function writeBatch(db: Database, batch: Batch, now: Date): Promise<void> {
  await db.asSystem(async (tx) => {
    const isNew = await tx
      .insertInto('usage_batches')
      .values({ id: batch.id, created_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .execute();
    if (isNew.length === 0) return;
    if (batch.groups.length > 0) await writeCalls(tx, batch);
    await writeSources(tx, batch);
    await countLate(tx, batch);
    if (batch.tools.length > 0) await writeTools(tx, batch.tools);
    await tx
      .deleteFrom('usage_batches')
      .where('created_at', '<', new Date(now.getTime() - 3_600_000))
      .execute();
    await tell(tx, batch);
  });
}

const rowsOf = (values: readonly object[]) => sql`${JSON.stringify(values)}::jsonb`;

/** As a text: the driver's own conversion of arrays costs more than the calls themselves did. */
const numbers = (values: readonly number[]) => sql`${`{${values.join()}}`}::bigint[]`;

/** Names of agents that a user's calls make up in a day: a header says them, and each would be a row for good. */
const MOST_NAMES = 1000;

/** Rows of the daily table are taken in the order of their key, so that two processes cannot wait for each other. */
async function writeCalls(tx: SystemTx, { groups, columns }: Batch): Promise<void> {
  await sql`
    with given as (
      select * from rows from (jsonb_to_recordset(${rowsOf(groups)}) as ("userId" text, "agentId" text, "runId" text,
        model text, provider text, success boolean, estimated boolean, day bigint, calls bigint, "inputTokens" bigint,
        "outputTokens" bigint, "costMicros" bigint, "latencyMs" bigint)) with ordinality
    ), groups as (
      select given.*, (to_timestamp(day / 1000) at time zone 'UTC')::date as date from given
    ), made_up as materialized (
      select distinct "userId", date, "agentId" from groups
      where "agentId" <> '' and not exists (select from agents where id = "agentId")
    ), beyond as materialized (
      select "userId", date from (select distinct "userId", date from made_up) g
      where (select count(*) from (select distinct agent_id from usage_daily u
        where u.user_id = g."userId" and u.day = g.date limit ${MOST_NAMES}) known) = ${MOST_NAMES}
    ), logged as (
      insert into usage_logs (user_id, agent_id, run_id, model, provider, input_tokens, output_tokens, cached_tokens,
        reasoning_tokens, cost_micros, latency_ms, success, estimated, created_at)
      select "userId", "agentId", "runId", model, provider, input, output, cached, reasoning, cost, latency, success,
        estimated, to_timestamp(at / 1000.0)
      from unnest(${numbers(columns.group)}, ${numbers(columns.inputTokens)}, ${numbers(columns.outputTokens)},
        ${numbers(columns.cachedTokens)}, ${numbers(columns.reasoningTokens)}, ${numbers(columns.costMicros)},
        ${numbers(columns.latencyMs)}, ${numbers(columns.at)})
        as call(place, input, output, cached, reasoning, cost, latency, at)
      join groups on ordinality = place + 1
    )
    insert into usage_daily as d (user_id, day, agent_id, model, provider, calls, failures, input_tokens, output_tokens,
      cost_micros, latency_ms)
    select "userId", date, case when (date, "userId", "agentId") in (
        select date, "userId", "agentId" from made_up join beyond using ("userId", date)) then '' else "agentId" end,
      model, provider, sum(calls),
      coalesce(sum(calls) filter (where not success), 0), sum("inputTokens"), sum("outputTokens"), sum("costMicros"),
      sum("latencyMs")
    from groups group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
    on conflict (user_id, day, agent_id, model, provider) do update set
      calls = d.calls + excluded.calls, failures = d.failures + excluded.failures,
      input_tokens = d.input_tokens + excluded.input_tokens, output_tokens = d.output_tokens + excluded.output_tokens,
      cost_micros = d.cost_micros + excluded.cost_micros, latency_ms = d.latency_ms + excluded.latency_ms`.execute(tx);
}

/** What the calls were made for: the task of the run, the key that was shown. In the order of the key, as above. */
async function writeSources(tx: SystemTx, { groups }: Batch): Promise<void> {
  const known = groups.filter(({ runId, keyId }) => runId !== undefined || keyId !== undefined);
  if (known.length === 0) return;
  await sql`
    with groups as materialized (
      select * from jsonb_to_recordset(${rowsOf(known)}) as call("userId" text, "runId" text, "keyId" text, day bigint,
        calls bigint, "inputTokens" bigint, "outputTokens" bigint, "costMicros" bigint)
    ), tasks as materialized (
      select "userId", "runId", usage_task_of("userId", split_part("runId", ':', 1)) as id
      from (select distinct "userId", "runId" from groups where "runId" is not null) runs
    )
    insert into usage_sources_daily as d (user_id, day, kind, source_id, calls, input_tokens, output_tokens, cost_micros)
    select "userId", (to_timestamp(day / 1000) at time zone 'UTC')::date, kind, id, sum(calls), sum("inputTokens"),
      sum("outputTokens"), sum("costMicros")
    from (
      select 'key' as kind, "keyId" as id, groups.* from groups where "keyId" is not null
      union all
      select 'task', tasks.id, groups.* from groups join tasks using ("userId", "runId") where tasks.id is not null
    ) made
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (user_id, day, kind, source_id) do update set
      calls = d.calls + excluded.calls, input_tokens = d.input_tokens + excluded.input_tokens,
      output_tokens = d.output_tokens + excluded.output_tokens,
      cost_micros = d.cost_micros + excluded.cost_micros`.execute(tx);
}

/** Pages that are open are told that there is something to read: the user's own, and those of administrators. */
async function tell(tx: SystemTx, { groups, tools }: Batch): Promise<void> {
  const users = [...new Set([...groups, ...tools].map(({ userId }) => userId)), EVERY_ADMINISTRATOR];
  await sql`select live_tell(id, 'usage') from unnest(${users}::text[]) as user_of (id)`.execute(tx);
}

/** In the order of the users, so that two processes cannot wait for each other. */
async function countLate(tx: SystemTx, { groups }: Batch): Promise<void> {
  const late = groups
    .filter(({ unreserved, reservation }) => unreserved || reservation)
    .map((group) => ({ ...group, counted: group.reservation?.counters ?? [] }));
  if (late.length === 0) return;
  await sql`
    select spend_count(user_id, agent_id, run_id, at, tokens, micros, counted) from (
      select "userId" as user_id, "agentId" as agent_id, "runId" as run_id, to_timestamp(day / 1000) as at,
        counted, sum("inputTokens" + "outputTokens")::bigint as tokens, sum("costMicros")::bigint as micros
      from jsonb_to_recordset(${rowsOf(late)}) as call("userId" text, "agentId" text, "runId" text, day bigint,
        counted jsonb, "inputTokens" bigint, "outputTokens" bigint, "costMicros" bigint)
      where exists (select from spend_caps c where c.user_id = "userId")
        or exists (select from spend_counters c where c.user_id = "userId")
      group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4
    ) as spent`.execute(tx);
}

async function writeTools(tx: SystemTx, tools: Batch['tools']): Promise<void> {
  await sql`
    insert into usage_tools_daily as d (user_id, day, agent_id, tool_name, calls, successes, duration_ms)
    select "userId", (to_timestamp(at / 1000) at time zone 'UTC')::date, "agentId", tool, count(*), count(*) filter (where success),
      round(sum("durationMs"))
    from jsonb_to_recordset(${rowsOf(tools)}) as call("userId" text, "agentId" text, tool text,
      "durationMs" double precision, success boolean, at double precision)
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (user_id, day, agent_id, tool_name) do update set
      calls = d.calls + excluded.calls, successes = d.successes + excluded.successes,
      duration_ms = d.duration_ms + excluded.duration_ms`.execute(tx);
}
