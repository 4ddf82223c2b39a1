import type { SqliteAccess, Sync } from './sqlite-access.ts';
import type { FigureStore, LogEntry, LogLine, LogStore, Message } from './records.ts';
import { PAGE_BYTES } from './store.ts';

const LOGS_KEPT = 5000;

export function writeLine({ run, agentId, iso }: SqliteAccess, { level, message, source }: LogLine): void {
  run(
    'insert into logs (agent_id, level, message, source, at) values (?, ?, ?, ?, ?)',
    agentId,
    level,
    message.slice(0, 4000),
    source,
    iso(),
  );
  run(
    'delete from logs where agent_id = ? and id <= (select id from logs where agent_id = ? order by id desc limit 1 offset ?)',
    agentId,
    agentId,
    LOGS_KEPT,
  );
}

/** What it did, for its owner to read. */
export function logging(access: SqliteAccess): Sync<LogStore> {
  const { all, first, agentId } = access;
  return {
    log: (line) => writeLine(access, line),
    logs({ limit, level, after }) {
      const where = 'agent_id = ? and (? is null or level = ?) and id > cast(? as integer)';
      const values = [agentId, level ?? null, level ?? null, after ?? '0'];
      return {
        logs: all<LogEntry>(
          `select cast(id as text) as id, at as timestamp, level, message, source from logs
          where ${where} order by logs.id desc limit ?`,
          ...values,
          limit,
        ),
        total: first<{ total: number }>(`select count(*) as total from logs where ${where}`, ...values)?.total ?? 0,
      };
    },
  };
}

/** What was said, and how the runs went. */
export function figures({ all, first, agentId }: SqliteAccess): Sync<FigureStore> {
  return {
    messages({ limit, offset }) {
      const said = `from events e join sessions s on s.id = e.session_id where e.agent_id = ?
        and e.type in ('user', 'assistant') and e.copied = 0 and e.data ->> 'content' <> ''`;
      return {
        messages: all<Message>(
          `select id, content, sender, timestamp, platform from (
            select *, sum(length(content)) over (order by timestamp desc, seq desc, id) - length(content) as before from (
              select e.session_id || ':' || e.seq as id, e.data ->> 'content' as content, e.seq as seq,
              case e.type when 'user' then 'user' else 'agent' end as sender, e.at as timestamp, s.channel as platform
              ${said} order by e.at desc, e.seq desc limit ? offset ?))
          where before < ? order by timestamp desc, seq desc, id`,
          agentId,
          limit,
          offset,
          PAGE_BYTES,
        ),
        total: first<{ total: number }>(`select count(*) as total ${said}`, agentId)?.total ?? 0,
      };
    },
    stats: (at) =>
      first(
        `select count(*) as runs, count(*) filter (where data ->> 'outcome' = 'failed') as failed,
        avg(data -> 'spent' ->> 'ms') as averageMs, count(*) filter (where at > ?) as lastHour
        from events where agent_id = ? and type = 'run_ended' and copied = 0`,
        new Date(at.getTime() - 3_600_000).toISOString(),
        agentId,
      ) as never,
  };
}
