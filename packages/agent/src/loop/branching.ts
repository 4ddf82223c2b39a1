import { AppError } from '@troupe/kernel';
import { readSession } from '../session/session.ts';
import type { SessionEvent } from '../session/events.ts';
import type { ConversationStore } from '../store/conversations.ts';
import { PAGE_BYTES, type SessionStore } from '../store/store.ts';
import { closingEvents } from './closing.ts';

/** A branch copies what is before it, so a conversation cannot have any number of them. */
const MOST_STEPS = 10_000;
const MOST_BRANCHES = 100;
const PAGE = 1000;
type Conversations = ConversationStore & Pick<SessionStore, 'events'>;

/** Why a run has no end of its own in a branch: nobody stopped it. */
const BRANCHED = 'The branch begins here.';

/**
 * Makes a session that begins with the steps of another, up to and including `at`. A run that was open there is closed:
 * what it had begun stays with the other. The same name again answers the branch that was made.
 */
export async function branchOff(store: Conversations, sessionId: string, at: number, name: string): Promise<string> {
  const session = await store.session(sessionId);
  if (!session) throw new AppError(404, 'Session not found');
  if (at > session.lastSeq) throw new AppError(400, `There is no step ${at}`);
  if (at > MOST_STEPS)
    throw new AppError(
      409,
      `A branch can begin within the first ${MOST_STEPS} steps of a conversation. Start a new one.`,
    );
  const family = await store.branches(sessionId);
  if (family.length >= MOST_BRANCHES)
    throw new AppError(409, `A conversation has ${MOST_BRANCHES} branches at most. Start a new one.`);
  const root = family.find(({ branchOf }) => branchOf === null);
  const { key } = (root && (await store.session(root.id))) ?? session;
  // What was said after the run was stopped is not answered here either: the branch begins with what is said to it.
  const state = { ...readSession(await stepsUpTo(store, sessionId, at)), next: undefined };
  const closing = state.run === undefined ? [] : closingEvents(state, { outcome: 'cancelled', reason: BRANCHED });
  const made = await store.branch(sessionId, { at, key: `${key}~${name}`, closing });
  if (made === undefined) throw new AppError(404, 'Session not found');
  return made;
}

/** What a run was about is all that counts: results are as long as they like. */
async function stepsUpTo(store: Conversations, sessionId: string, at: number): Promise<SessionEvent[]> {
  const steps: SessionEvent[] = [];
  for (let after = 0; after < at;) {
    const page = await store.events(sessionId, { after, limit: Math.min(PAGE, at - after), bytes: PAGE_BYTES });
    if (page.length === 0) break;
    after = page.at(-1)!.seq;
    steps.push(...page.map((event) => (event.type === 'tool_result' ? { ...event, content: '' } : event)));
  }
  return steps;
}
