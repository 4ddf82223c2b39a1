import { sql } from 'kysely';
import type { Access } from './pg-access.ts';
import { storableJson as json } from './pg-values.ts';
import type { FigureStore, LogEntry, LogLine, LogStore, Message, RunStats } from './records.ts';

export const LOGS_KEPT = 5000;
const PRUNE_EVERY = 200n;

/** What it did, for its owner to read. */
export function logging({ userId, agentId, rows }: Access): LogStore {
  const lines: LogLine[] = [];
  let writing: Promise<void> | undefined;

  /** What is logged while a write is on its way goes out together after it: many runs at once cost one write. */
  async function writeLines(): Promise<void> {
    while (lines.length > 0) {
      const written = await rows(sql<{ id: bigint }>`insert into agent_logs (agent_id, user_id, level, message, source)
        select ${agentId}, ${userId}, level, left(message, 4000), source
        from jsonb_to_recordset(${json(lines.splice(0))}::jsonb) as line (level text, message text, source text) returning id`);
      if (!written.some(({ id }) => id % PRUNE_EVERY === 0n)) continue;
      await rows(sql`delete from agent_logs where agent_id = ${agentId} and id <= (
        select id from agent_logs where agent_id = ${agentId} order by id desc offset ${LOGS_KEPT} limit 1)`);
    }
  }

  return {
    log(line) {
      lines.push(line);
      writing ??= writeLines().finally(() => (writing = undefined));
      return writing;
    },
    async logs({ limit, level, after }) {
      const wanted = sql`agent_id = ${agentId} and (${level ?? null}::text is null or level = ${level ?? null})
        and id > ${after ?? '0'}::bigint`;
      const found = await rows(sql<LogEntry & { total: number }>`
        select id::text, iso_text(at) as timestamp, level, message, source, (count(*) over ())::integer as total
        from agent_logs where ${wanted} order by agent_logs.id desc limit ${limit}`);
      return {
        logs: found.map(({ id, timestamp, level: severity, message, source }) => ({
          id,
          timestamp,
          level: severity,
          message,
          source,
        })),
        total: found[0]?.total ?? 0,
      };
    },
  };
}

/** Of a page of messages: more than anybody reads at once. */
const MESSAGES_BYTES = 512 * 1024;

/** What was said, and how the runs went. */
export function figures({ agentId, first, rows, value }: Access): FigureStore {
  return {
    async messages({ limit, offset }) {
      const total = await value(sql<{ value: number }>`select count(*)::integer as value from agent_events
        where agent_id = ${agentId} and type in ('user', 'assistant') and not copied and data ->> 'content' <> ''`);
      const page = await rows(sql<{ value: Message }>`select value
        from agent_message_page(${agentId}, ${limit}, ${offset}, ${MESSAGES_BYTES}) as value`);
      return { messages: page.map((row) => row.value), total: total ?? 0 };
    },
    async stats(at) {
      const found = await first(sql<RunStats>`
        select count(*)::integer as runs,
          (count(*) filter (where data ->> 'outcome' = 'failed'))::integer as failed,
          (avg((data -> 'spent' ->> 'ms')::numeric))::float8 as "averageMs",
          (count(*) filter (where at > ${at}::timestamptz - interval '1 hour'))::integer as "lastHour"
        from agent_events where agent_id = ${agentId} and type = 'run_ended' and not copied`);
      return found as RunStats;
    },
  };
}
