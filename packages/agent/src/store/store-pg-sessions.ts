import { newId } from '@troupe/kernel';
import { sql } from 'kysely';
import { lastStatus, type Question, type SessionEvent, type SessionEventBody } from '../session/events.ts';
import type { Access } from './pg-access.ts';
import { storableJson as json, wanted } from './pg-values.ts';
import { searchWords } from './search-words.ts';
import type { Batches } from './store-pg-batches.ts';
import {
  APPROVALS_SHOWN,
  ASKED_CHARACTERS,
  ASKED_LOOKED_AT,
  type ApprovalStore,
  type PendingApproval,
} from './approvals.ts';
import type { Session } from './conversations.ts';
import type { Claimed, Delivered, SessionStore } from './sessions.ts';
import { PAGE_BYTES } from './store.ts';

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

/** Sessions and their events. */
function reading({ agentId, rows }: Access): Pick<SessionStore, 'events' | 'unfinished'> {
  return {
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
    unfinished: async () =>
      (
        await rows(sql<{ id: string }>`select id from agent_sessions where agent_id = ${agentId} and status = 'open'
          and (lease_owner is null or lease_until < clock_timestamp()) order by updated_at`)
      ).map(({ id }) => id),
  };
}

/** What comes in, and who works on it. */
function working(
  { userId, agentId, now, rows, first, value, today, scopeName }: Access,
  batches: Batches,
): Omit<SessionStore, 'events' | 'unfinished'> {
  return {
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
  };
}

export const sessions = (access: Access, batches: Batches): SessionStore => ({
  ...reading(access),
  ...working(access, batches),
});

type Waiting = Omit<PendingApproval, 'question'> & { question: Question | null };
const asPending = ({ question, ...rest }: Waiting): PendingApproval => ({ ...rest, ...(question && { question }) });

/** What waits for its owner. */
export function approvals({ agentId, rows, value }: Access): ApprovalStore {
  return {
    pendingApprovals: ({ limit, offset } = { limit: APPROVALS_SHOWN, offset: 0 }) =>
      rows(sql<Waiting>`
        select data ->> 'approvalId' as "approvalId", session_id as "sessionId", data ->> 'callId' as "callId",
          data ->> 'tool' as tool, data ->> 'args' as args, data -> 'question' as question,
          iso_text(at) as "requestedAt"
        from (select p.*, sum(octet_length(data ->> 'args')) over (order by at, seq) - octet_length(data ->> 'args') as before
          from (select * from agent_waiting_calls(array(
              select id from agent_sessions where agent_id = ${agentId} and status <> 'idle'))
            order by at, seq limit ${limit} offset ${offset}) p) q
        where before < ${PAGE_BYTES} order by at, seq`).then((found) => found.map(asPending)),
    async askedLately(tool, limit) {
      const found = await rows(sql<{ args: string }>`
        select left(data ->> 'args', ${ASKED_CHARACTERS}) as args
        from (select data, at, seq from agent_events
          where agent_id = ${agentId} and type = 'approval_requested' and not copied
          order by at desc, seq desc limit ${ASKED_LOOKED_AT}) e
        where data ->> 'tool' = ${tool} and data -> 'question' is null order by at desc, seq desc limit ${limit}`);
      return found.map(({ args }) => args);
    },
    async decide(approvalId, approved, by, answer) {
      const sessionId = await value(
        sql<{ value: string | null }>`select agent_decide(${agentId}, ${approvalId}, ${approved}, ${by},
          ${answer ?? null}) as value`,
      );
      if (sessionId === null || sessionId === undefined) return 'unknown';
      return sessionId === '' ? 'decided' : { sessionId };
    },
  };
}
