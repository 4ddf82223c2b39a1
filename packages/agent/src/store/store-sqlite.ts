import { newId } from '@troupe/kernel';
import type { AgentDefinition } from '@troupe/domain';
import { lastStatus, type SessionEvent, type SessionEventBody } from '../session/events.ts';
import { sqliteConversations } from './conversations-sqlite.ts';
import { openSqlite } from './sqlite.ts';
import { memoryMethods } from './store-sqlite-memory.ts';
import {
  APPROVALS_SHOWN,
  PAGE_BYTES,
  type AgentStore,
  type Claimed,
  type Lease,
  type LogEntry,
  type LogLine,
  type Message,
  type PendingApproval,
  type Session,
} from './store.ts';

/** The store of an agent that runs as a program of its own: one file, no server. */

export interface SqliteStoreOptions {
  /** A path, or `:memory:`. */
  file: string;
  agentId: string;
  /** Members of a team that run in one program share the file, and through it the team's memory. */
  teamId?: string;
  now?: () => Date;
}

/** As in PostgreSQL, where a trigger does it. */
const DEFINITIONS_KEPT = 50;
const LOGS_KEPT = 5000;

export interface SqliteStore extends AgentStore {
  close: () => void;
}

export function createSqliteStore({ file, agentId, teamId, now = () => new Date() }: SqliteStoreOptions): SqliteStore {
  const sqlite = openSqlite(file);
  const { all, first, run, atomically } = sqlite;
  const iso = (): string => now().toISOString();
  const SESSION = `id, channel, key, status, last_seq as lastSeq, created_at as createdAt, updated_at as updatedAt`;
  const findSession = (id: string) =>
    first<Session>(`select ${SESSION} from sessions where id = ? and agent_id = ?`, id, agentId);

  const event = (row: { seq: number; data: string; at: string }): SessionEvent => ({
    ...(JSON.parse(row.data) as SessionEventBody),
    seq: row.seq,
    at: row.at,
  });

  const channelState = (channel: string): Record<string, unknown> =>
    JSON.parse(
      first<{ state: string }>('select state from channels where agent_id = ? and channel = ?', agentId, channel)
        ?.state ?? '{}',
    ) as Record<string, unknown>;

  function storeEvents(session: Session, events: readonly SessionEventBody[], inputId: string | null): number {
    let seq = session.lastSeq;
    for (const [index, body] of events.entries()) {
      const id = index === events.length - 1 ? inputId : null;
      run(
        'insert into events (session_id, seq, agent_id, type, data, input_id, at) values (?, ?, ?, ?, ?, ?, ?)',
        session.id,
        ++seq,
        agentId,
        body.type,
        JSON.stringify(body),
        id,
        iso(),
      );
      if (body.type === 'compaction') run('update sessions set compacted_to = ? where id = ?', body.upTo, session.id);
    }
    run(
      'update sessions set last_seq = ?, status = coalesce(?, status), updated_at = ? where id = ?',
      seq,
      lastStatus(events),
      iso(),
      session.id,
    );
    return seq;
  }

  function claim(sessionId: string, { owner, ttlMs }: Lease): Claimed | undefined {
    const at = now().getTime();
    const current = first<{ version: number; definition: string }>(
      'select version, definition from definitions where agent_id = ? order by version desc limit 1',
      agentId,
    );
    if (!current) return undefined;
    const taken = run(
      `update sessions set lease_owner = ?, lease_until = ?
      where id = ? and agent_id = ? and (lease_owner is null or lease_until < ?)`,
      owner,
      at + ttlMs,
      sessionId,
      agentId,
      at,
    );
    const session = findSession(sessionId);
    if (taken.changes === 0 || !session) return undefined;
    const events = all<{ seq: number; data: string; at: string }>(
      `select seq, data, at from events
      where session_id = ? and seq > (select compacted_to from sessions where id = ?) order by seq`,
      sessionId,
      sessionId,
    );
    return {
      session,
      version: current.version,
      definition: JSON.parse(current.definition) as AgentDefinition,
      events: events.map(event),
      tokensToday:
        first<{ tokens: number }>('select tokens from days where agent_id = ? and day = ?', agentId, iso().slice(0, 10))
          ?.tokens ?? 0,
    };
  }

  function writeLine({ level, message, source }: LogLine): void {
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

  const notDecided = `not exists (select 1 from events d where d.session_id = a.session_id and d.seq > a.seq and (d.type = 'run_ended'
    or (d.type = 'approval_decided' and d.data ->> 'approvalId' = a.data ->> 'approvalId')))`;

  const store: AgentStoreSync = {
    definition() {
      const found = first<{ version: number; definition: string }>(
        'select version, definition from definitions where agent_id = ? order by version desc limit 1',
        agentId,
      );
      return found && { version: found.version, definition: JSON.parse(found.definition) as AgentDefinition };
    },
    saveDefinition(definition) {
      const saved = first<{ version: number }>(
        `insert into definitions (agent_id, version, definition)
        select ?, coalesce(max(version), 0) + 1, ? from definitions where agent_id = ? returning version`,
        agentId,
        JSON.stringify(definition),
        agentId,
      );
      const version = saved?.version ?? 0;
      run('delete from definitions where agent_id = ? and version <= ?', agentId, version - DEFINITIONS_KEPT);
      return version;
    },

    ...sqliteConversations(sqlite, agentId, iso),
    events: (sessionId, { after, limit, bytes = Infinity }) =>
      all<{ seq: number; data: string; at: string }>(
        `select seq, data, at from (
          select *, sum(length(data)) over (order by seq) - length(data) as before from (
            select seq, data, at from events where session_id = ? and agent_id = ? and seq > ? order by seq limit ?))
        where before < ? order by seq`,
        sessionId,
        agentId,
        after,
        limit,
        Math.min(bytes, Number.MAX_SAFE_INTEGER),
      ).map(event),
    deliver: ({ to, events, inputId, claim: lease }) =>
      atomically(() => {
        if (!('id' in to)) {
          run(
            'insert or ignore into sessions (id, agent_id, channel, key, created_at, updated_at) values (?, ?, ?, ?, ?, ?)',
            newId(),
            agentId,
            to.channel,
            to.key,
            iso(),
            iso(),
          );
        }
        const session =
          'id' in to
            ? findSession(to.id)
            : first<Session>(
                `select ${SESSION} from sessions where agent_id = ? and channel = ? and key = ?`,
                agentId,
                to.channel,
                to.key,
              );
        if (!session) return undefined;
        const known =
          inputId === undefined
            ? undefined
            : first<{ seq: number }>(
                'select seq from events where session_id = ? and input_id = ?',
                session.id,
                inputId,
              )?.seq;
        const seq = known ?? storeEvents(session, events, inputId ?? null);
        const after = findSession(session.id) ?? session;
        const claimed = lease && after.status === 'open' ? claim(session.id, lease) : undefined;
        return { session: after, seq, duplicate: known !== undefined, claimed };
      }),
    claim: (sessionId, lease) => atomically(() => claim(sessionId, lease)),
    append: (sessionId, { owner, expected, events, release, tokens = 0, lines = [] }) =>
      atomically(() => {
        const held = first<{ lease_owner: string | null }>('select lease_owner from sessions where id = ?', sessionId);
        const session = findSession(sessionId);
        if (!session || held?.lease_owner !== owner) return { ok: false, why: 'lost' };
        if (session.lastSeq !== expected) return { ok: false, why: 'conflict' };
        const seq = storeEvents(session, events, null);
        lines.forEach(writeLine);
        if (release) run('update sessions set lease_owner = null, status = ? where id = ?', release, sessionId);
        if (tokens > 0) {
          run(
            `insert into days (agent_id, day, tokens) values (?, ?, ?)
            on conflict (agent_id, day) do update set tokens = tokens + excluded.tokens`,
            agentId,
            iso().slice(0, 10),
            tokens,
          );
        }
        const newest = first<{ version: number }>(
          'select max(version) as version from definitions where agent_id = ?',
          agentId,
        );
        return { ok: true, seq, ...(!release && newest && { version: newest.version }) };
      }),
    renew(sessionId, { owner, ttlMs }) {
      const { changes } = run(
        'update sessions set lease_until = ? where id = ? and lease_owner = ?',
        now().getTime() + ttlMs,
        sessionId,
        owner,
      );
      return { held: changes > 0, lastSeq: findSession(sessionId)?.lastSeq ?? 0 };
    },
    release: (sessionId, owner) =>
      void run('update sessions set lease_owner = null where id = ? and lease_owner = ?', sessionId, owner),
    unfinished: () =>
      all<{ id: string }>(
        `select id from sessions where agent_id = ? and status = 'open'
        and (lease_owner is null or lease_until < ?) order by updated_at`,
        agentId,
        now().getTime(),
      ).map(({ id }) => id),

    pendingApprovals: ({ limit, offset } = { limit: APPROVALS_SHOWN, offset: 0 }) =>
      all<PendingApproval>(
        `select approvalId, sessionId, callId, tool, args, requestedAt from (
          select *, sum(length(args)) over (order by requestedAt, seq) - length(args) as before from (
            select a.data ->> 'approvalId' as approvalId, a.session_id as sessionId, a.data ->> 'callId' as callId,
            a.data ->> 'tool' as tool, a.data ->> 'args' as args, a.at as requestedAt, a.seq as seq from events a
            where a.agent_id = ? and a.type = 'approval_requested' and ${notDecided}
            order by a.at, a.seq limit ? offset ?))
        where before < ? order by requestedAt, seq`,
        agentId,
        limit,
        offset,
        PAGE_BYTES,
      ),
    decide: (approvalId, approved, by) =>
      atomically(() => {
        const asked = first<{ sessionId: string; callId: string; open: number }>(
          `select a.session_id as sessionId,
          a.data ->> 'callId' as callId, ${notDecided} as open from events a
          where a.agent_id = ? and a.type = 'approval_requested' and a.data ->> 'approvalId' = ?`,
          agentId,
          approvalId,
        );
        const session = asked && findSession(asked.sessionId);
        if (!asked || !session) return 'unknown';
        if (!asked.open) return 'decided';
        storeEvents(session, [{ type: 'approval_decided', approvalId, callId: asked.callId, approved, by }], null);
        return { sessionId: session.id };
      }),

    ...memoryMethods(sqlite, agentId, teamId, now),
    reset: () =>
      atomically(() => {
        run('delete from events where agent_id = ?', agentId);
        run('delete from sessions where agent_id = ?', agentId);
        run('delete from memory where scope = ?', `agent:${agentId}`);
        run('delete from todos where scope = ?', `agent:${agentId}`);
      }),

    log: writeLine,
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
    channelState,
    changeChannelState: (channel, change) =>
      atomically(
        () =>
          void run(
            `insert into channels (agent_id, channel, state) values (?, ?, ?)
            on conflict (agent_id, channel) do update set state = excluded.state`,
            agentId,
            channel,
            JSON.stringify(change(channelState(channel))),
          ),
      ),
  };
  return { ...promised(store), close: sqlite.close };
}

type AgentStoreSync = {
  [K in keyof AgentStore]: (...args: Parameters<AgentStore[K]>) => Awaited<ReturnType<AgentStore[K]>>;
};

/** The file is read and written at once; callers see the promises that every store gives. */
function promised(store: AgentStoreSync): AgentStore {
  const made: Record<string, unknown> = {};
  for (const [name, method] of Object.entries(store)) {
    made[name] = async (...args: unknown[]) => (method as (...given: unknown[]) => unknown)(...args);
  }
  return made as unknown as AgentStore;
}
