import { createPgStore, nearOf, tendMeanings } from '@troupe/agent';
import { embedMemoriesJob, extractFactsJob } from '@troupe/contract';
import type { Database, Jobs } from '@troupe/db';
import { memoryScope, type AgentDefinition } from '@troupe/domain';
import type { Thinker, Thinking } from '@troupe/fleet';
import { AppError, type Clock, type Log } from '@troupe/kernel';
import type { AgentRow, AllAgents } from '@troupe/roster';
import { NoFacts, NotNow, takeFacts } from './facts.ts';
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

const REST_SECONDS = 600;
/** Calls of one turn: then it is somebody else's. */
const CALLS = 16;
const AT_ONCE = { concurrency: 2, perOwner: 1 };
/** Of a look. */
const MOST_AGENTS = 100;
const MOST_SESSIONS = 100;
/** Of a conversation, and of each message. */
const MOST_MESSAGES = 80;
const MESSAGE_CHARACTERS = 4000;
/** Memories that the model is shown beside it: those that fit best, and the newest. */
const FITTING = 20;
const NEWEST = 30;
const ASKED_CHARACTERS = 4000;
const QUESTION_MS = 4000;

const ELSEWHERE =
  'Agents run as programs of their own here, and keep their conversations themselves: no facts are taken out of them.';
const FULL = (left: number): string =>
  `The memory is full: there was no room for ${left} ${left === 1 ? 'fact' : 'facts'}. Nothing was forgotten for them.`;

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
      if (!isHere) return void (await store.noteEverywhere(db.system, ELSEWHERE));
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
  if (!agent || !definition?.config.memory.facts || !definition.tools.includes('memory')) return;
  const own = db.user(which.userId);
  const talk = await store.readTalk(own, which, { messages: MOST_MESSAGES, characters: MESSAGE_CHARACTERS });
  // One that goes on comes to rest again.
  if (talk?.status !== 'idle' || !talk.said.some(({ role }) => role === 'user')) return;
  try {
    const left = await writeFacts(deps, which, { agent, definition, talk, signal });
    await store.noteFacts(own, which.agentId, left > 0 ? FULL(left) : null);
  } catch (error) {
    const isOver = error instanceof NoFacts;
    const isTold = isOver || error instanceof NotNow || error instanceof AppError;
    const why = isTold ? error.message : 'It did not answer in time.';
    const note = isOver ? why : `Facts could not be found, and are looked for again later: ${why}`;
    await store.noteFacts(own, which.agentId, note);
    // The same words would come to the same.
    if (!isOver) throw error;
  }
}

interface Writing {
  agent: AgentRow;
  definition: AgentDefinition;
  talk: store.Talk;
  signal: AbortSignal;
}

/** What is remembered that new facts may repeat or contradict. */
async function knownAbout({ db, meanings }: MemoryCareDeps, { agent, definition, talk, signal }: Writing) {
  const { id: agentId, user_id: userId } = agent;
  const scope = memoryScope(definition);
  const asked = talk.said.flatMap(({ role, text }) => (role === 'user' ? [text] : [])).join('\n');
  const query = asked.slice(-ASKED_CHARACTERS).toWellFormed();
  const near = await nearOf(
    async (model, question) => {
      const time = AbortSignal.any([signal, AbortSignal.timeout(QUESTION_MS)]);
      // Words have to do when the model does not answer; its owner is told where memories become numbers.
      return (await meanings.embed(userId, model, [question], time, agentId).catch(() => []))[0];
    },
    definition,
    query,
  );
  const store = storeOf(db, agent);
  const fitting = await store.recall({ scope, query, limit: FITTING, near });
  const newest = await store.recall({ scope, limit: NEWEST });
  return [...new Map([...newest, ...fitting].map((memory) => [memory.id, memory])).values()];
}

/** How many facts there was no room for. */
async function writeFacts(
  deps: MemoryCareDeps,
  { userId, agentId, sessionId }: Conversation,
  { agent, definition, talk, signal }: Writing,
): Promise<number> {
  const { db, thinking, clock } = deps;
  const { memory, safety, model } = definition.config;
  const own = db.user(userId);
  const today = clock().toISOString().slice(0, 10);
  if ((await store.tokensToday(own, agentId, today)) >= safety.maxTokensPerDay)
    throw new NotNow(`The limit of ${safety.maxTokensPerDay} tokens a day is reached.`);
  const scope = memoryScope(definition);
  const { facts, tokens } = await takeFacts(
    { model: thinking(agent).model, modelName: model.default, signal },
    { said: talk.said, known: await knownAbout(deps, { agent, definition, talk, signal }) },
  );
  return db.asUser(userId, async (tx) => {
    const isFirst = await store.moveOn(tx, { sessionId, userId }, { from: talk.from, to: talk.lastSeq });
    await store.countTokens(tx, { agentId, userId }, today, tokens);
    if (!isFirst) return 0;
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
