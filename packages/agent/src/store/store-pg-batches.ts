import { CompiledQuery } from 'kysely';
import { isRefused, type UserTx } from '@troupe/db';
import { inBatches, AppError, newId } from '@troupe/kernel';
import type { AgentDefinition, VersionedDefinition } from '@troupe/domain';
import { lastStatus, type SessionEventBody } from '../session/events.ts';
import { storableJson, wantedWords } from './pg-values.ts';
import type { Append, Appended, Claimed, Delivered, Delivery, Session } from './store.ts';

/** The two writes that every answer takes, for all sessions of the agent that need them at this moment at once. */

type Input = Delivery & { to: { channel: string; key: string } };
type Step = Append & { sessionId: string };

export interface Batches {
  deliver: (input: Input) => Promise<Delivered>;
  append: (step: Step) => Promise<Appended>;
}

interface BatchDeps {
  scoped: UserTx;
  agentId: string;
  userId: string;
  teamScope: string;
  now: () => Date;
  logsKept: number;
  onFiles?: ((version: number) => void) | undefined;
}

/** As agent_take_in answers it. */
interface TakenIn {
  version: number | null;
  definition: AgentDefinition | null;
  tokensToday: number;
  sessions: TakenSession[];
}

type TakenSession = Session & { n: number; work: TakenWork | null };

interface TakenWork {
  first: number;
  log: [at: string, body: SessionEventBody][];
  memories: { key: string | null; content: string }[] | null;
}

/** As agent_write_down answers it. */
interface WrittenDown {
  stored: string[];
  newer: string[] | null;
  version: number | null;
  files: number | null;
}

const TAKE_IN = 'select agent_take_in($1, $2, $3::jsonb, $4::date, $5, $6, $7, $8) as value';
const WRITE_DOWN = 'select agent_write_down($1, $2, $3::text[], $4::jsonb, $5::date, $6) as value';

const iso = (text: string): string => new Date(text).toISOString();
const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

async function valueOf<T>(scoped: UserTx, text: string, values: unknown[]): Promise<T> {
  const { rows } = await scoped.executeQuery<{ value: T }>(CompiledQuery.raw(text, values));
  return (rows[0] as { value: T }).value;
}

/** What comes in. The newest definition is asked for only when there is a newer one. */
function createTakeIn({ scoped, agentId, userId, teamScope, now }: BatchDeps) {
  let newest: VersionedDefinition | undefined;

  const memoryOf = ({ tools, memoryShared, team }: AgentDefinition): string | null =>
    !tools.includes('memory') ? null : memoryShared && team ? teamScope : `agent:${agentId}`;

  async function takeIn(inputs: Input[]): Promise<Delivered[]> {
    const at = now();
    const given = inputs.map(({ to, events, claim, recall }, n) => ({
      ...to,
      n,
      id: newId(),
      events,
      status: lastStatus(events),
      owner: claim?.owner,
      ttl: claim?.ttlMs ?? 0,
      words: recall ? wantedWords(recall.query) : '',
      recalled: recall?.limit ?? 0,
    }));
    const taken = await valueOf<TakenIn | null>(scoped, TAKE_IN, [
      agentId,
      userId,
      storableJson(given),
      dayOf(at),
      at,
      newest?.version ?? 0,
      newest ? memoryOf(newest.definition) : null,
      teamScope,
    ]);
    if (!taken) throw new AppError(404, 'Agent not found');
    if (taken.version !== null && taken.definition !== null)
      newest = { version: taken.version, definition: taken.definition };
    const found = new Map(taken.sessions.map((session) => [session.n, session]));
    return inputs.map(({ recall }, n) => {
      const session = found.get(n);
      if (!session) throw new Error('an input was stored without its session');
      return readTaken(session, taken.tokensToday, newest, recall?.query);
    });
  }

  return takeIn;
}

/** What is said and done. */
function createWriteDown({ scoped, agentId, userId, now, logsKept, onFiles }: BatchDeps) {
  return async (steps: Step[]): Promise<Appended[]> => {
    const given = steps.map(({ sessionId, owner, expected, events, release, tokens = 0, lines = [] }) => ({
      id: sessionId,
      owner,
      expected,
      events,
      status: release ?? lastStatus(events),
      release: release !== undefined,
      tokens,
      compacted: compactedTo(events),
      lines,
    }));
    const { stored, newer, version, files } = await valueOf<WrittenDown>(scoped, WRITE_DOWN, [
      agentId,
      userId,
      steps.map(({ sessionId }) => sessionId),
      storableJson(given),
      dayOf(now()),
      logsKept,
    ]);
    if (typeof files === 'number') onFiles?.(files);
    return steps.map(({ sessionId, expected, events, release }): Appended => {
      if (!stored.includes(sessionId)) return { ok: false, why: newer?.includes(sessionId) ? 'conflict' : 'lost' };
      return { ok: true, seq: expected + events.length, ...(release === undefined && version && { version }) };
    });
  };
}

export const createBatches = (deps: BatchDeps): Batches => ({
  deliver: inBatches(createTakeIn(deps), { keyOf: ({ to }) => placeOf(to), mayPart: isRefused }),
  append: inBatches(createWriteDown(deps), { keyOf: ({ sessionId }) => sessionId, mayPart: isRefused }),
});

const placeOf = ({ channel, key }: { channel: string; key: string }): string => `${channel}\n${key}`;

const compactedTo = (events: readonly SessionEventBody[]): number | undefined =>
  events.findLast((event) => event.type === 'compaction')?.upTo;

function readTaken(
  { id, channel, key, status, lastSeq, createdAt, updatedAt, work }: TakenSession,
  tokensToday: number,
  newest: VersionedDefinition | undefined,
  query: string | undefined,
): Delivered {
  const session: Session = { id, channel, key, status, lastSeq, createdAt: iso(createdAt), updatedAt: iso(updatedAt) };
  const delivered = { session, seq: lastSeq, duplicate: false };
  if (!work || !newest) return { ...delivered, claimed: undefined };
  const { first, log, memories } = work;
  const claimed: Claimed = {
    ...newest,
    session,
    events: log.map(([at, body], index) => ({ ...body, seq: first + index, at })),
    tokensToday,
    ...(memories && query !== undefined && { recalled: { query, memories } }),
  };
  return { ...delivered, claimed };
}
