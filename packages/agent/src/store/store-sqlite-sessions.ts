import { newId } from '@troupe/kernel';
import { lastStatus, type Question, type SessionEvent, type SessionEventBody } from '../session/events.ts';
import type { SqliteAccess, Sync } from './sqlite-access.ts';
import { newestDefinition } from './store-sqlite-definitions.ts';
import { writeLine } from './store-sqlite-records.ts';
import {
  APPROVALS_SHOWN,
  ASKED_CHARACTERS,
  ASKED_LOOKED_AT,
  type ApprovalStore,
  type PendingApproval,
} from './approvals.ts';
import type { Session } from './conversations.ts';
import type { Lease } from './lease.ts';
import type { Append, Appended, Claimed, Delivered, Delivery, SessionRef, SessionStore } from './sessions.ts';
import { PAGE_BYTES } from './store.ts';

const SESSION = `id, channel, key, status, last_seq as lastSeq, created_at as createdAt, updated_at as updatedAt`;
/** Of the request `a`: nobody has decided, and its run goes on. */
const NOT_DECIDED = `not exists (select 1 from events d where d.session_id = a.session_id and d.seq > a.seq and (d.type = 'run_ended'
  or (d.type = 'approval_decided' and d.data ->> 'approvalId' = a.data ->> 'approvalId')))`;

interface EventRow {
  seq: number;
  data: string;
  at: string;
}

const event = ({ seq, data, at }: EventRow): SessionEvent => ({ ...(JSON.parse(data) as SessionEventBody), seq, at });

const findSession = ({ first, agentId }: SqliteAccess, id: string): Session | undefined =>
  first<Session>(`select ${SESSION} from sessions where id = ? and agent_id = ?`, id, agentId);

function storeEvents(
  { run, agentId, iso }: SqliteAccess,
  session: Session,
  events: readonly SessionEventBody[],
  inputId: string | null,
): number {
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

function claim(access: SqliteAccess, sessionId: string, { owner, ttlMs }: Lease): Claimed | undefined {
  const { all, first, run, agentId, now, iso } = access;
  const at = now().getTime();
  const current = newestDefinition(access);
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
  const session = findSession(access, sessionId);
  if (taken.changes === 0 || !session) return undefined;
  const events = all<{ seq: number; data: string; at: string }>(
    `select seq, data, at from events
    where session_id = ? and seq > (select compacted_to from sessions where id = ?) order by seq`,
    sessionId,
    sessionId,
  );
  return {
    session,
    ...current,
    events: events.map(event),
    tokensToday:
      first<{ tokens: number }>('select tokens from days where agent_id = ? and day = ?', agentId, iso().slice(0, 10))
        ?.tokens ?? 0,
  };
}

function reading({ all, agentId, now }: SqliteAccess): Sync<Pick<SessionStore, 'events' | 'unfinished'>> {
  return {
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
    unfinished: () =>
      all<{ id: string }>(
        `select id from sessions where agent_id = ? and status = 'open'
        and (lease_owner is null or lease_until < ?) order by updated_at`,
        agentId,
        now().getTime(),
      ).map(({ id }) => id),
  };
}

/** The session that something is delivered to; one named by channel and key is made. */
function addressed(access: SqliteAccess, to: SessionRef): Session | undefined {
  if ('id' in to) return findSession(access, to.id);
  const { first, run, agentId, iso } = access;
  run(
    'insert or ignore into sessions (id, agent_id, channel, key, created_at, updated_at) values (?, ?, ?, ?, ?, ?)',
    newId(),
    agentId,
    to.channel,
    to.key,
    iso(),
    iso(),
  );
  return first<Session>(
    `select ${SESSION} from sessions where agent_id = ? and channel = ? and key = ?`,
    agentId,
    to.channel,
    to.key,
  );
}

function deliver(access: SqliteAccess, { to, events, inputId, claim: lease }: Delivery): Delivered | undefined {
  const session = addressed(access, to);
  if (!session) return undefined;
  const known =
    inputId === undefined
      ? undefined
      : access.first<{ seq: number }>(
          'select seq from events where session_id = ? and input_id = ?',
          session.id,
          inputId,
        )?.seq;
  const seq = known ?? storeEvents(access, session, events, inputId ?? null);
  const after = findSession(access, session.id) ?? session;
  const claimed = lease && after.status === 'open' ? claim(access, session.id, lease) : undefined;
  return { session: after, seq, duplicate: known !== undefined, claimed };
}

function append(access: SqliteAccess, sessionId: string, step: Append): Appended {
  const { first, run, agentId, iso } = access;
  const { owner, expected, events, release, tokens = 0, lines = [] } = step;
  const held = first<{ lease_owner: string | null }>('select lease_owner from sessions where id = ?', sessionId);
  const session = findSession(access, sessionId);
  if (!session || held?.lease_owner !== owner) return { ok: false, why: 'lost' };
  if (session.lastSeq !== expected) return { ok: false, why: 'conflict' };
  const seq = storeEvents(access, session, events, null);
  for (const line of lines) writeLine(access, line);
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
}

/** The lease of a session, and what its holder writes. */
function working(access: SqliteAccess): Sync<Omit<SessionStore, 'events' | 'unfinished'>> {
  const { run, atomically, now } = access;
  return {
    deliver: (given) => atomically(() => deliver(access, given)),
    claim: (sessionId, lease) => atomically(() => claim(access, sessionId, lease)),
    append: (sessionId, step) => atomically(() => append(access, sessionId, step)),
    renew(sessionId, { owner, ttlMs }) {
      const { changes } = run(
        'update sessions set lease_until = ? where id = ? and lease_owner = ?',
        now().getTime() + ttlMs,
        sessionId,
        owner,
      );
      return { held: changes > 0, lastSeq: findSession(access, sessionId)?.lastSeq ?? 0 };
    },
    release: (sessionId, owner) =>
      void run('update sessions set lease_owner = null where id = ? and lease_owner = ?', sessionId, owner),
  };
}

export const sessions = (access: SqliteAccess): Sync<SessionStore> => ({ ...reading(access), ...working(access) });

const askedLately = ({ all, agentId }: SqliteAccess, tool: string, limit: number): string[] =>
  all<{ args: string }>(
    `select substr(data ->> 'args', 1, ${ASKED_CHARACTERS}) as args from (
      select data, at, seq from events where agent_id = ? and type = 'approval_requested' and copied = 0
      order by at desc, seq desc limit ${ASKED_LOOKED_AT})
    where data ->> 'tool' = ? and data -> 'question' is null order by at desc, seq desc limit ?`,
    agentId,
    tool,
    limit,
  ).map(({ args }) => args);

/** What a run waits for its owner to allow. */
export function approvals(access: SqliteAccess): Sync<ApprovalStore> {
  const { all, first, atomically, agentId } = access;
  return {
    pendingApprovals: ({ limit, offset } = { limit: APPROVALS_SHOWN, offset: 0 }) =>
      all<Omit<PendingApproval, 'question'> & { question: string | null }>(
        `select approvalId, sessionId, callId, tool, args, question, requestedAt from (
          select *, sum(length(args)) over (order by requestedAt, seq) - length(args) as before from (
            select a.data ->> 'approvalId' as approvalId, a.session_id as sessionId, a.data ->> 'callId' as callId,
            a.data ->> 'tool' as tool, a.data ->> 'args' as args, a.data -> 'question' as question, a.at as requestedAt, a.seq as seq from events a
            where a.agent_id = ? and a.type = 'approval_requested' and ${NOT_DECIDED}
            order by a.at, a.seq limit ? offset ?))
        where before < ? order by requestedAt, seq`,
        agentId,
        limit,
        offset,
        PAGE_BYTES,
      ).map(({ question, ...rest }) => ({
        ...rest,
        ...(question !== null && { question: JSON.parse(question) as Question }),
      })),
    askedLately: (tool, limit) => askedLately(access, tool, limit),
    decide: (approvalId, approved, by, answer) =>
      atomically(() => {
        const asked = first<{ sessionId: string; callId: string; open: number }>(
          `select a.session_id as sessionId,
          a.data ->> 'callId' as callId, ${NOT_DECIDED} as open from events a
          where a.agent_id = ? and a.type = 'approval_requested' and a.data ->> 'approvalId' = ?`,
          agentId,
          approvalId,
        );
        const session = asked && findSession(access, asked.sessionId);
        if (!asked || !session) return 'unknown';
        if (!asked.open) return 'decided';
        storeEvents(
          access,
          session,
          [
            {
              type: 'approval_decided',
              approvalId,
              callId: asked.callId,
              approved,
              by,
              ...(answer !== undefined && { answer }),
            },
          ],
          null,
        );
        return { sessionId: session.id };
      }),
  };
}
