import { sql } from 'kysely';
import type { Access } from './pg-access.ts';
import { storableJson as json } from './pg-values.ts';
import { PAGE_BYTES, type AgentStore, type LogEntry, type LogLine, type Message, type RunStats } from './store.ts';

export const LOGS_KEPT = 5000;
const PRUNE_EVERY = 200n;

/** What it did, for its owner to read. */
export function logging({ userId, agentId, rows }: Access): Pick<AgentStore, 'log' | 'logs'> {
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

/** What was said, and how the runs went. */
export function figures({ agentId, first, value }: Access): Pick<AgentStore, 'messages' | 'stats'> {
  return {
    async messages({ limit, offset }) {
      const said = sql`from agent_events e join agent_sessions s on s.id = e.session_id
        where e.agent_id = ${agentId} and e.type in ('user', 'assistant') and not e.copied and e.data ->> 'content' <> ''`;
      const found = await value(sql<{ value: { messages: Message[] | null; total: number } }>`
        select jsonb_build_object('total', (select count(*) ${said}), 'messages', (
          select jsonb_agg(jsonb_build_object('id', id, 'content', content, 'sender', sender, 'timestamp', iso_text(at),
            'platform', channel) order by at desc, seq desc)
          from (select m.*, sum(octet_length(content)) over (order by at desc, seq desc, id) - octet_length(content) as before
            from (select e.session_id || ':' || e.seq as id, e.data ->> 'content' as content, e.at, e.seq, s.channel,
              case e.type when 'user' then 'user' else 'agent' end as sender
              ${said} order by e.at desc, e.seq desc limit ${limit} offset ${offset}) m) p
          where before < ${PAGE_BYTES})) as value`);
      return { messages: found?.messages ?? [], total: found?.total ?? 0 };
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

/** What channels keep. */
export function channels({
  db,
  userId,
  agentId,
  value,
}: Access): Pick<AgentStore, 'channelState' | 'changeChannelState'> {
  return {
    channelState: async (channel) =>
      (await value(sql<{ value: Record<string, unknown> }>`select state as value from agent_channels
        where agent_id = ${agentId} and channel = ${channel}`)) ?? {},
    changeChannelState: (channel, change) =>
      db.asUser(userId, async (tx) => {
        await sql`insert into agent_channels (agent_id, user_id, channel) values (${agentId}, ${userId}, ${channel})
          on conflict do nothing`.execute(tx);
        const held = await sql<{ state: Record<string, unknown> }>`select state from agent_channels
          where agent_id = ${agentId} and channel = ${channel} for update`.execute(tx);
        await sql`update agent_channels set state = ${json(change(held.rows[0]?.state ?? {}))}::jsonb
          where agent_id = ${agentId} and channel = ${channel}`.execute(tx);
      }),
  };
}
