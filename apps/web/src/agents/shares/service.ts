import { gateway, type SessionStep } from '@troupe/contract';
import type { Database } from '@troupe/db';
import {
  AppError,
  countedAddress,
  createFairQueue,
  iso,
  leaveToOthers,
  newId,
  randomHex,
  sha256Hex,
  type BackendClient,
  type Clock,
  type User,
} from '@troupe/kernel';
import type { Roster } from '@troupe/roster';
import { reach } from '../../platform/reach.ts';
import { stepsOf } from '../conversations/service.ts';
import {
  countShares,
  deleteShare,
  findShare,
  insertShare,
  listShares,
  type SharedMessage,
  type ShareRow,
} from './store.ts';

export interface SharesDeps {
  db: Database;
  roster: Roster;
  backend: BackendClient;
  clock: Clock;
  /** Where the dashboard is. */
  url: string;
}

export type SharesService = ReturnType<typeof createShares>;

const MOST_LINKS = 100;
const MOST_BYTES = 2 * 1024 * 1024;
/** Anybody may read them, two megabytes at a time: addresses take turns, and others have four times as long. */
const READ = { width: 1, perKey: 1, waiting: 200, waitingPerKey: 10 };
const NOTHING = 'This link shows nothing: it was removed, or there never was one';

/** Words alone: what tools read, wrote and answered may be anything, and nobody looks through it before he shows it. */
function wordsOf({ type, role, content = '', at }: SessionStep): SharedMessage[] {
  if (content.trim() === '') return [];
  if (type === 'user' || (type === 'imported' && role === 'user')) return [{ role: 'user', text: content, at }];
  return type === 'assistant' || type === 'imported' ? [{ role: 'assistant', text: content, at }] : [];
}

const told = ({ id, session_id: sessionId, title, created_at: createdAt }: ShareRow) => ({
  id,
  sessionId,
  title,
  createdAt: iso(createdAt),
});

async function wordsIn(
  backend: BackendClient,
  user: User,
  agentId: string,
  sessionId: string,
): Promise<SharedMessage[]> {
  const messages: SharedMessage[] = [];
  let bytes = 0;
  for await (const steps of stepsOf(backend.as(user, `share-${newId()}`), agentId, sessionId)) {
    const words = steps.flatMap(wordsOf);
    bytes += words.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 60, 0);
    if (bytes > MOST_BYTES)
      throw new AppError(400, 'This conversation is too long to be shown (2 MB). Export it instead.');
    messages.push(...words);
  }
  if (messages.length === 0) throw new AppError(400, 'There is nothing to show yet');
  return messages;
}

/** Links that show a conversation as it was when they were made. Only their hash is kept. */
export function createShares({ db, roster, backend, clock, url }: SharesDeps) {
  const reading = createFairQueue(READ);
  return {
    async share(user: User, agentId: string, sessionId: string, address: string) {
      const agent = await roster.of(user.id).get(agentId);
      const head = { params: { agentId, id: sessionId }, query: { after: 0, limit: 1 } };
      const { session } = await reach(backend.as(user, address).call(gateway.conversations.get, head));
      const messages = await wordsIn(backend, user, agentId, sessionId);
      const token = randomHex(32);
      const row = {
        id: newId(),
        session_id: sessionId,
        title: (session.title ?? '').slice(0, 200),
        created_at: clock(),
      };
      await db.asUser(user.id, async (tx) => {
        if ((await countShares(tx, agentId)) >= MOST_LINKS)
          throw new AppError(409, `An agent has ${MOST_LINKS} links at most. Remove some first.`);
        await insertShare(tx, {
          ...row,
          user_id: user.id,
          agent_id: agentId,
          agent_name: agent.name,
          token_hash: sha256Hex(token),
          messages,
        });
      });
      return { ...told(row), url: `${url}/shared/${token}` };
    },

    async list(user: User, agentId: string) {
      await roster.of(user.id).get(agentId);
      return { shares: (await listShares(db.user(user.id), agentId, MOST_LINKS)).map(told) };
    },

    async remove(user: User, agentId: string, id: string) {
      await roster.of(user.id).get(agentId);
      if (!(await deleteShare(db.user(user.id), agentId, id))) throw new AppError(404, 'Link not found');
      return { success: true as const };
    },

    /** The whole answer, as JSON. */
    async read(token: string, address: string): Promise<string> {
      if (!/^[0-9a-f]{64}$/.test(token)) throw new AppError(404, NOTHING);
      const found = await reading.run(countedAddress(address), async () => {
        const began = performance.now();
        const told = await findShare(db.system, sha256Hex(token));
        await leaveToOthers(performance.now() - began);
        return told;
      });
      if (found === undefined) throw new AppError(404, NOTHING);
      return found;
    },
  };
}
