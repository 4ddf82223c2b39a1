import {
  failureNote,
  lookForFacts,
  REST_SECONDS,
  roomNote,
  wantsFacts,
  type Meant,
  type SqliteStore,
} from '@troupe/agent';
import type { Ai } from '@troupe/ai';
import { memoryScope, type AgentDefinition } from '@troupe/domain';
import type { Log } from '@troupe/kernel';
import { repeated, type Repeated } from './repeated.ts';

/**
 * Facts out of the conversations of an agent that is a program of its own: where its conversations are. The platform's model
 * finds them, on its owner's account.
 */

const EVERY_MS = 30_000;
/** Conversations of one turn. */
const MOST_SESSIONS = 20;
/** So often a conversation fails before those after it have their turn. */
const MOST_TRIES = 5;

interface FactsDeps {
  store: SqliteStore;
  ai: Pick<Ai, 'chat' | 'stream'>;
  meant: Meant;
  /** Whether what the team shares is kept elsewhere. */
  isShared: boolean;
  log: Log;
  everyMs?: number;
  restSeconds?: number;
  onTurn?: () => void;
}

export function createFacts(deps: FactsDeps): Repeated {
  const { store, log, everyMs = EVERY_MS, restSeconds = REST_SECONDS, onTurn } = deps;
  const { facts } = store;
  const tries = new Map<string, number>();

  async function turn(signal: AbortSignal): Promise<void> {
    const { definition } = (await store.definition()) ?? {};
    if (!definition || !wantsFacts(definition)) return facts.unwanted();
    const resting = await facts.resting({ seconds: restSeconds, most: MOST_SESSIONS });
    // The platform tells the owner: the memory is there.
    if (deps.isShared && memoryScope(definition) === 'team') return;
    for (const one of resting) {
      try {
        await extract(deps, definition, one.sessionId, signal);
      } catch (error) {
        const count = (tries.get(one.sessionId) ?? 0) + 1;
        tries.set(one.sessionId, count);
        if (count < MOST_TRIES || signal.aborted) throw error;
        log.warn({ err: error, sessionId: one.sessionId }, 'no facts were taken out of a conversation');
      }
      tries.delete(one.sessionId);
      await facts.seen(one);
    }
  }

  return repeated(turn, { everyMs, log, onTurn, failed: 'facts could not be found' });
}

/** What it found is written with how far it got: once, however often it is begun. What fails is told. */
async function extract(
  { store, ai, meant }: FactsDeps,
  definition: AgentDefinition,
  sessionId: string,
  signal: AbortSignal,
): Promise<void> {
  const { facts } = store;
  const talk = await facts.talk(sessionId);
  // One that goes on comes to rest again.
  if (talk?.status !== 'idle' || !talk.said.some(({ role }) => role === 'user')) return;
  const { said, from, lastSeq: to } = talk;
  try {
    const tokensToday = await facts.tokensToday();
    const found = await lookForFacts({ store, model: ai, meant }, { definition, said, tokensToday, signal });
    const place = { scope: memoryScope(definition), sessionId, from, to, bounds: definition.config.memory };
    const left = await facts.write({ ...place, ...found });
    if (left !== undefined) await facts.note(roomNote(left));
  } catch (error) {
    const { note, isOver } = failureNote(error);
    await facts.note(note);
    if (!isOver) throw error;
  }
}
