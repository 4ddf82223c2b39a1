import {
  createPgStore,
  failureNote,
  lookForFacts,
  MESSAGE_CHARACTERS,
  MOST_MESSAGES,
  REST_SECONDS,
  roomNote,
  tendMeanings,
  wantsFacts,
  type Talk,
} from '@troupe/agent';
import { embedMemoriesJob, extractFactsJob } from '@troupe/contract';
import type { Database, Jobs } from '@troupe/db';
import { memoryScope, type AgentDefinition } from '@troupe/domain';
import type { Thinker, Thinking } from '@troupe/fleet';
import type { Clock, Log } from '@troupe/kernel';
import type { AgentRow, AllAgents } from '@troupe/roster';
import * as store from './store.ts';

/** What is done with memories in the background, on their owner's account: numbers are made of them, and facts found. */

export interface MemoryCareDeps {
  db: Database;
  jobs: Jobs;
  roster: Pick<AllAgents, 'find' | 'definition'>;
  /** Texts as numbers, on the account of a user and for an agent of theirs. */
  meanings: {
    embed: (
      userId: string,
      model: string,
      texts: readonly string[],
      signal: AbortSignal,
      agentId: string,
    ) => Promise<Float32Array[]>;
  };
  thinking: (agent: Thinker) => Thinking;
  clock: Clock;
  log: Log;
  /** Whether conversations of agents are in this database. */
  isHere: boolean;
  /** A conversation rests when nothing has happened in it for so long. */
  restSeconds?: number;
}

export type MemoryCare = ReturnType<typeof createMemoryCare>;

/** Calls of one turn: then it is somebody else's. */
const CALLS = 16;
const AT_ONCE = { concurrency: 2, perOwner: 1 };
/** Of a look. */
const MOST_AGENTS = 100;
const MOST_SESSIONS = 100;
const QUESTION_MS = 4000;

const SHARED =
  'This agent runs as a program of its own, and its team shares one memory: no facts are taken out of its conversations into that.';

export function createMemoryCare(deps: MemoryCareDeps) {
  const { db, jobs, isHere, restSeconds = REST_SECONDS } = deps;
  jobs.work(embedMemoriesJob, (which, { signal }) => embedMemories(deps, which, signal), AT_ONCE);
  jobs.work(extractFactsJob, (which, { signal }) => extractFacts(deps, which, signal), AT_ONCE);
  return {
    /** Looks for what has to be done; it is done by jobs. */
    async look(): Promise<void> {
      await db.asSystem(async (tx) => {
        for (const which of await store.takeDue(tx, MOST_AGENTS)) await sendEmbedding(jobs, tx, which);
      });
      await db.asSystem((tx) => store.markElsewhere(tx, isHere, SHARED));
      if (!isHere) return;
      await db.asSystem(async (tx) => {
        const wanted = { restSeconds, agents: MOST_AGENTS, sessions: MOST_SESSIONS };
        for (const found of await store.takeResting(tx, wanted))
          await jobs.send(tx, extractFactsJob, found, { owner: found.userId, about: found.sessionId });
      });
    },
  };
}

const sendEmbedding = (jobs: Jobs, tx: Parameters<Jobs['send']>[0], { userId, agentId }: store.Which) =>
  jobs.send(tx, embedMemoriesJob, { userId, agentId }, { owner: userId, about: agentId });

const storeOf = (db: Database, { id: agentId, user_id: userId, team_id: teamId }: AgentRow) =>
  createPgStore({ db, userId, agentId, ...(teamId !== null && { teamId }) });

/** The agent as it is now; undefined: it is gone, or another's. */
async function found(
  { roster }: Pick<MemoryCareDeps, 'roster'>,
  { userId, agentId }: store.Which,
): Promise<{ agent: AgentRow; definition: AgentDefinition } | undefined> {
  const agent = await roster.find(agentId);
  return agent?.user_id === userId ? { agent, definition: await roster.definition(agent) } : undefined;
}

async function embedMemories(deps: MemoryCareDeps, which: store.Which, signal: AbortSignal): Promise<void> {
  const { db, jobs, meanings } = deps;
  const { agent, definition } = (await found(deps, which)) ?? {};
  if (!agent) return;
  const { userId, agentId } = which;
  const more = await tendMeanings(
    {
      store: storeOf(db, agent),
      embed: (model, texts, time) => meanings.embed(userId, model, texts, time, agentId),
    },
    { scope: memoryScope(definition!), model: definition!.config.memory.embeddings ?? null, calls: CALLS, signal },
  );
  if (more) await db.asUser(userId, async (tx) => void (await sendEmbedding(jobs, tx, which)));
}

interface Conversation extends store.Which {
  sessionId: string;
}

/** What it found is written with how far it got: once, however often it is begun. What fails is told, and tried again. */
async function extractFacts(deps: MemoryCareDeps, which: Conversation, signal: AbortSignal): Promise<void> {
  const { db } = deps;
  const { agent, definition } = (await found(deps, which)) ?? {};
  if (!agent || !definition || !wantsFacts(definition)) return;
  const own = db.user(which.userId);
  const talk = await store.readTalk(own, which, { messages: MOST_MESSAGES, characters: MESSAGE_CHARACTERS });
  // One that goes on comes to rest again.
  if (talk?.status !== 'idle' || !talk.said.some(({ role }) => role === 'user')) return;
  try {
    const left = await writeFacts(deps, which, { agent, definition, talk, signal });
    if (left !== undefined) await store.noteFacts(own, which.agentId, roomNote(left));
  } catch (error) {
    const { note, isOver } = failureNote(error);
    await store.noteFacts(own, which.agentId, note);
    if (!isOver) throw error;
  }
}

interface Writing {
  agent: AgentRow;
  definition: AgentDefinition;
  talk: Talk;
  signal: AbortSignal;
}

/** How many facts there was no room for; undefined: somebody has written them meanwhile. */
async function writeFacts(
  deps: MemoryCareDeps,
  { userId, agentId, sessionId }: Conversation,
  { agent, definition, talk, signal }: Writing,
): Promise<number | undefined> {
  const { db, meanings, thinking, clock } = deps;
  const { memory } = definition.config;
  const own = db.user(userId);
  const today = clock().toISOString().slice(0, 10);
  const tokensToday = await store.tokensToday(own, agentId, today);
  const scope = memoryScope(definition);
  // Words have to do when the model does not answer; its owner is told where memories become numbers.
  const meant = async (model: string, question: string) => {
    const time = AbortSignal.any([signal, AbortSignal.timeout(QUESTION_MS)]);
    return (await meanings.embed(userId, model, [question], time, agentId).catch(() => []))[0];
  };
  const { facts, tokens } = await lookForFacts(
    { store: storeOf(db, agent), model: thinking(agent).model, meant },
    { definition, said: talk.said, tokensToday, signal },
  );
  return db.asUser(userId, async (tx) => {
    const isFirst = await store.moveOn(tx, { sessionId, userId }, { from: talk.from, to: talk.lastSeq });
    await store.countTokens(tx, { agentId, userId }, today, tokens);
    if (!isFirst) return undefined;
    const isTeams = scope === 'team' && agent.team_id !== null;
    const place = {
      agentId,
      userId,
      sessionId,
      scope: isTeams ? `team:${agent.team_id}` : `agent:${agentId}`,
      owner: isTeams ? null : agentId,
      maxEntries: memory.maxEntries,
      ttlDays: memory.ttlDays,
    };
    const given = facts.map(({ content, said, disputes }) => ({ content, seq: said.seq, at: said.at, disputes }));
    return store.addFacts(tx, place, given);
  });
}
