import { gateway, type FoundConversation } from '@troupe/contract';
import type { Database } from '@troupe/db';
import { createFairQueue, type BackendClient, type Log, type User } from '@troupe/kernel';
import { agentsElsewhere } from '@troupe/roster';
import { boundTime, findAgents, findConversations, findFiles } from './store.ts';

export interface SearchDeps {
  db: Database;
  backend: BackendClient;
  log: Log;
}

export type SearchService = ReturnType<typeof createSearch>;

const SHOWN = 20;
const MOST_WORDS = 8;
/** Agents in containers are asked themselves: so many, and none for long. */
const ASKED = 20;
const ASK_MS = 2000;
/** A search reads much: each user's is one at a time, and all together leave the database to others. */
const READ = { width: 2, perKey: 1, waiting: 500, waitingPerKey: 10 };

type Agent = { id: string; name: string };

/** A message stands for its conversation, the newest for all of them. */
function newestOf(found: readonly FoundConversation[]): FoundConversation[] {
  const each = new Map<string, FoundConversation>();
  for (const one of found) if (!each.has(one.sessionId)) each.set(one.sessionId, one);
  return [...each.values()];
}

/** The first words are the title of a conversation without one; there it is not the message that was looked for. */
function asTitled(found: FoundConversation, words: readonly string[]): FoundConversation {
  const title = found.title.toLowerCase();
  return words.every((word) => title.includes(word.toLowerCase())) ? { ...found, seq: null } : found;
}

const byRank = (a: FoundConversation, b: FoundConversation): number =>
  Number(b.seq === null) - Number(a.seq === null) || b.at.localeCompare(a.at);

/** Finds what somebody's agents have, whichever of them has it. */
export function createSearch({ db, backend, log }: SearchDeps) {
  const reading = createFairQueue(READ);

  const here = (userId: string, words: readonly string[]) =>
    db.asUser(userId, async (tx) => {
      await boundTime(tx);
      const agents = await findAgents(tx, userId, words, SHOWN);
      const conversations = await findConversations(tx, userId, words, SHOWN);
      return { agents, conversations, files: await findFiles(tx, userId, words, SHOWN) };
    });

  async function ask(user: User, agent: Agent, q: string, address: string): Promise<FoundConversation[] | undefined> {
    const { id: agentId, name: agentName } = agent;
    try {
      const { messages } = await backend
        .as(user, address)
        .call(gateway.conversations.search, { params: { agentId }, query: { q }, timeout: ASK_MS });
      return messages.map(({ sessionId, title, at, seq }) => ({ agentId, agentName, sessionId, title, at, seq }));
    } catch (error) {
      log.debug({ err: error, agentId }, 'an agent could not be searched');
      return undefined;
    }
  }

  return {
    async find(user: User, q: string, address: string) {
      const words = [...new Set(q.split(/\s+/))].slice(0, MOST_WORDS);
      const found = await reading.run(user.id, () => here(user.id, words));
      const others = await agentsElsewhere(db.user(user.id), ASKED);
      const asked = await Promise.all(others.map((agent) => ask(user, agent, q, address)));
      const said = newestOf(asked.flatMap((messages) => messages ?? []));
      const conversations = [...found.conversations, ...said].map((one) => asTitled(one, words)).sort(byRank);
      const unread = others.filter((_, at) => asked[at] === undefined).map(({ name }) => name);
      return { ...found, conversations: conversations.slice(0, SHOWN), unread };
    },
  };
}
