import { sql, type RawBuilder } from 'kysely';
import type { Database } from '@troupe/db';
import { AppError, newId } from '@troupe/kernel';
import { lastStatus, type SessionEvent, type SessionEventBody } from '../session/events.ts';
import { pgConversations } from './conversations-pg.ts';
import { storable, storableJson as json, wanted } from './pg-values.ts';
import { searchWords } from './search-words.ts';
import { createBatches } from './store-pg-batches.ts';
import {
  APPROVALS_SHOWN,
  PAGE_BYTES,
  TODOS_KEPT,
  type AgentStore,
  type Claimed,
  type Delivered,
  type LogEntry,
  type LogLine,
  type Memory,
  type Message,
  type PendingApproval,
  type RunStats,
  type Scope,
  type Session,
  type Todo,
} from './store.ts';
import type { VersionedDefinition } from '@troupe/domain';

/** The store of an agent that lives as rows in the platform's database. */

export interface PgStoreOptions {
  db: Database;
  userId: string;
  agentId: string;
  /** Whose memory and todo list the scope `team` means. */
  teamId?: string;
  now?: () => Date;
}

const LOGS_KEPT = 5000;
const PRUNE_EVERY = 200n;

/** As agent_work answers it. */
interface Work extends Omit<Claimed, 'session' | 'events' | 'recalled'> {
  first: number;
  events: SessionEventBody[];
  times: string[];
  memories: { key: string | null; content: string }[] | null;
}

function readWork(session: Session, { first, events, times, memories, ...rest }: Work, query?: string): Claimed {
  return {
    ...rest,
    session,
    events: events.map((body, index) => ({ ...body, seq: first + index, at: times[index] ?? '' })),
    ...(memories && query !== undefined && { recalled: { query, memories } }),
  };
}

export function createPgStore({ db, userId, agentId, teamId, now = () => new Date() }: PgStoreOptions): AgentStore {
  const scoped = db.user(userId);
  const rows = async <T>(query: RawBuilder<T>): Promise<T[]> => (await query.execute(scoped)).rows;
  const first = async <T>(query: RawBuilder<T>): Promise<T | undefined> => (await rows(query))[0];
  const value = async <T>(query: RawBuilder<{ value: T }>): Promise<T | undefined> => (await first(query))?.value;
  const today = (): string => now().toISOString().slice(0, 10);
  const scopeName = (scope: Scope): string => (scope === 'team' && teamId ? `team:${teamId}` : `agent:${agentId}`);
  const scopeOwner = (scope: Scope): string | null => (scope === 'team' && teamId ? null : agentId);

  const memory = sql`id, key, content, split_part(scope, ':', 1) as scope, iso_text(created_at) as "createdAt", iso_text(updated_at) as "updatedAt"`;

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

  const batches = createBatches({ scoped, agentId, userId, teamScope: scopeName('team'), now, logsKept: LOGS_KEPT });

  return {
    definition: () =>
      first(sql<VersionedDefinition>`select version, definition from agent_definitions
        where agent_id = ${agentId} order by version desc limit 1`),
    saveDefinition: (definition) =>
      db.asUser(userId, async (tx) => {
        const owned = await sql`select from agents where id = ${agentId} for update`.execute(tx);
        if (owned.rows.length === 0) throw new AppError(404, 'Agent not found');
        const saved = await sql<{ version: number }>`
          insert into agent_definitions (agent_id, user_id, version, definition)
          select ${agentId}, ${userId}, coalesce(max(version), 0) + 1, ${json(definition)}::jsonb
          from agent_definitions where agent_id = ${agentId} returning version`.execute(tx);
        return saved.rows[0]?.version ?? 0;
      }),

    ...pgConversations(scoped, userId, agentId),
    events: async (sessionId, { after, limit, bytes }) =>
      (
        await rows(
          bytes === undefined
            ? sql<{ value: SessionEvent }>`select agent_event_json(e) as value from agent_events e
                where session_id = ${sessionId} and agent_id = ${agentId} and seq > ${after} order by seq limit ${limit}`
            : sql<{ value: SessionEvent }>`select value
                from agent_event_page(${agentId}, ${sessionId}, ${after}, ${limit}, ${bytes}) as value`,
        )
      ).map((row) => row.value),
    async deliver(delivery) {
      const { to, events, inputId, claim, recall } = delivery;
      if ('channel' in to && inputId === undefined && lastStatus(events) === 'open')
        return batches.deliver({ ...delivery, to });
      const [id, channel, key] = 'id' in to ? [to.id, null, null] : [null, to.channel, to.key];
      const at = now();
      const delivered = await value(sql<{ value: (Omit<Delivered, 'claimed'> & { work: Work | null }) | null }>`
        select agent_deliver(${agentId}, ${userId}, ${id}, ${channel}, ${key}, ${newId()},
          ${json(events)}::jsonb, ${inputId ?? null}, ${lastStatus(events)},
          ${claim?.owner ?? null}, ${claim?.ttlMs ?? 0}, ${today()}::date,
          ${recall ? wanted(searchWords(recall.query)) : ''}, ${scopeName('team')}, ${recall?.limit ?? 0}, ${at}) as value`);
      if (!delivered) return undefined;
      const { work, session, ...rest } = delivered;
      return { ...rest, session, claimed: work ? readWork(session, work, recall?.query) : undefined };
    },
    async claim(sessionId, { owner, ttlMs }) {
      const claimed = await value(sql<{ value: { session: Session; work: Work } | null }>`
        select agent_claim(${agentId}, ${sessionId}, ${owner}, ${ttlMs}, ${today()}::date) as value`);
      return claimed ? readWork(claimed.session, claimed.work) : undefined;
    },
    append: (sessionId, append) => batches.append({ ...append, sessionId }),
    async renew(sessionId, { owner, ttlMs }) {
      const held = await first(sql<{ lastSeq: number }>`
        update agent_sessions set lease_until = clock_timestamp() + make_interval(secs => ${ttlMs} / 1000.0)
        where id = ${sessionId} and lease_owner = ${owner} returning last_seq as "lastSeq"`);
      return { held: held !== undefined, lastSeq: held?.lastSeq ?? 0 };
    },
    async release(sessionId, owner) {
      await rows(sql`update agent_sessions set lease_owner = null where id = ${sessionId} and lease_owner = ${owner}`);
    },
    unfinished: async () =>
      (
        await rows(sql<{ id: string }>`select id from agent_sessions where agent_id = ${agentId} and status = 'open'
          and (lease_owner is null or lease_until < clock_timestamp()) order by updated_at`)
      ).map(({ id }) => id),

    pendingApprovals: ({ limit, offset } = { limit: APPROVALS_SHOWN, offset: 0 }) =>
      rows(sql<PendingApproval>`
        select data ->> 'approvalId' as "approvalId", session_id as "sessionId", data ->> 'callId' as "callId",
          data ->> 'tool' as tool, data ->> 'args' as args, iso_text(at) as "requestedAt"
        from (select p.*, sum(octet_length(data ->> 'args')) over (order by at, seq) - octet_length(data ->> 'args') as before
          from (select * from agent_events a where a.agent_id = ${agentId} and a.type = 'approval_requested' and not exists (
            select from agent_events d where d.session_id = a.session_id and d.seq > a.seq and (d.type = 'run_ended'
              or (d.type = 'approval_decided' and d.data ->> 'approvalId' = a.data ->> 'approvalId')))
            order by a.at, a.seq limit ${limit} offset ${offset}) p) q
        where before < ${PAGE_BYTES} order by at, seq`),
    async decide(approvalId, approved, by) {
      const sessionId = await value(
        sql<{ value: string | null }>`select agent_decide(${agentId}, ${approvalId}, ${approved}, ${by}) as value`,
      );
      if (sessionId === null || sessionId === undefined) return 'unknown';
      return sessionId === '' ? 'decided' : { sessionId };
    },

    remember: ({ scope, key, content }, { maxEntries, ttlDays }) =>
      db.asUser(userId, async (tx) => {
        const at = now();
        const expires = new Date(at.getTime() + ttlDays * 86_400_000);
        const kept = await sql<Memory>`
          insert into agent_memory (id, user_id, agent_id, scope, key, content, created_at, updated_at, expires_at)
          values (${newId()}, ${userId}, ${scopeOwner(scope)}, ${scopeName(scope)}, ${key === undefined ? null : storable(key)}, ${storable(content)}, ${at}, ${at}, ${expires})
          on conflict (user_id, scope, key) do update set content = excluded.content,
            updated_at = excluded.updated_at, expires_at = excluded.expires_at
          returning ${memory}`.execute(tx);
        await sql`delete from agent_memory where scope = ${scopeName(scope)} and (expires_at <= ${at} or id in (
          select id from agent_memory where scope = ${scopeName(scope)}
          order by updated_at desc, id offset ${maxEntries}))`.execute(tx);
        return kept.rows[0] as Memory;
      }),
    async recall({ scope, query, limit, offset = 0 }) {
      const words = query === undefined ? undefined : searchWords(query);
      if (words?.length === 0) return [];
      const alive = sql`scope = ${scopeName(scope)} and expires_at > ${now()}`;
      if (!words) {
        // The size of a text is known without reading it.
        return rows(sql<Memory>`select ${memory} from (
          select p.*, sum(octet_length(content)) over (order by updated_at desc, id) - octet_length(content) as before
          from (select * from agent_memory where ${alive} order by updated_at desc, id limit ${limit} offset ${offset}) p) q
          where before < ${PAGE_BYTES} order by updated_at desc, id`);
      }
      return rows(sql<Memory>`select ${memory} from agent_memory, to_tsquery('simple', ${wanted(words)}) as wanted
        where ${alive} and search @@ wanted order by ts_rank(search, wanted) desc, updated_at desc, id limit ${limit}`);
    },
    editMemory: (id, content, { ttlDays }) => {
      const at = now();
      return first(sql<Memory>`update agent_memory set content = ${storable(content)}, updated_at = ${at},
        expires_at = ${new Date(at.getTime() + ttlDays * 86_400_000)}
        where id = ${id} and scope in (${scopeName('agent')}, ${scopeName('team')}) returning ${memory}`);
    },
    forget: async (id) =>
      (await first(sql`delete from agent_memory where id = ${id}
        and scope in (${scopeName('agent')}, ${scopeName('team')}) returning id`)) !== undefined,
    todos: (scope) =>
      rows(sql<Todo>`select number::text as id, description, status from agent_todos
        where scope = ${scopeName(scope)} order by number`),
    addTodos: (scope, descriptions) =>
      db.asUser(userId, async (tx) => {
        await sql`select pg_advisory_xact_lock(hashtext(${scopeName(scope)}))`.execute(tx);
        const added = await sql<Todo>`
          insert into agent_todos (user_id, agent_id, scope, number, description)
          select ${userId}, ${scopeOwner(scope)}, ${scopeName(scope)},
            coalesce((select max(number) from agent_todos where scope = ${scopeName(scope)}), 0) + n, description
          from unnest(${descriptions.map(storable)}::text[]) with ordinality as given (description, n)
          returning number::text as id, description, status`.execute(tx);
        await sql`delete from agent_todos where scope = ${scopeName(scope)} and status = 'completed' and number <= (
          select max(number) from agent_todos where scope = ${scopeName(scope)}) - ${TODOS_KEPT}`.execute(tx);
        return added.rows;
      }),
    setTodo: (scope, id, status) =>
      first(sql<Todo>`update agent_todos set status = ${status}
        where scope = ${scopeName(scope)} and number::text = ${id} returning number::text as id, description, status`),
    reset: () =>
      db.asUser(userId, async (tx) => {
        await sql`delete from agent_sessions where agent_id = ${agentId}`.execute(tx);
        await sql`delete from agent_memory where agent_id = ${agentId}`.execute(tx);
        await sql`delete from agent_todos where agent_id = ${agentId}`.execute(tx);
      }),

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

/** Agents, of all users, with work that nobody is doing: what a host takes up after a restart. */
export async function unfinishedAgents(db: Database, limit: number): Promise<{ userId: string; agentId: string }[]> {
  const { rows } = await sql<{ userId: string; agentId: string }>`
    select distinct user_id as "userId", agent_id as "agentId" from agent_sessions where status = 'open'
      and (lease_owner is null or lease_until < clock_timestamp()) limit ${limit}`.execute(db.system);
  return rows;
}
