import { gateway, type Client, type web, type SessionStep, type TypesOf } from '@troupe/contract';
import type { Roster } from '@troupe/roster';
import { AppError, type BackendClient, type Clock, type User } from '@troupe/kernel';
import { reach } from '../../platform/reach.ts';
import type { KnownModels } from '../models/service.ts';
import { createStanding } from './standing.ts';

export interface ConversationsDeps {
  roster: Roster;
  backend: BackendClient;
  models: Pick<KnownModels, 'check'>;
  clock: Clock;
}

type Decision = TypesOf<typeof web.conversations.decide>['body'];

export type ConversationsService = ReturnType<typeof createConversations>;

const MOST_READ = 1000;

/** The conversation of those who name none. */
const OWN = 'dashboard';

/** A page has about 2 MB, all entries together 100. */
const MOST_PAGES = 60;

type Call = ReturnType<BackendClient['as']>['call'];

/** The entry of this key, or id, in whichever page it is. */
async function entryOf(call: Call, agentId: string, key: string) {
  let offset = 0;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = { limit: MOST_READ, offset };
    const { memories, hasMore } = await reach(call(gateway.memory.get, { params: { agentId }, query }));
    const found = memories.find((one) => one.key === key || one['id'] === key);
    if (found || !hasMore) return found;
    offset += memories.length;
  }
  return undefined;
}

const PAGE = 500;

/** All steps of a session, a page at a time. */
export async function* stepsOf(
  { call }: Pick<Client, 'call'>,
  agentId: string,
  id: string,
  from = 0,
): AsyncGenerator<SessionStep[]> {
  for (let after = from; ;) {
    const query = { after, limit: PAGE };
    const { events, hasMore } = await reach(call(gateway.conversations.get, { params: { agentId, id }, query }));
    if (events.length > 0) yield events;
    if (!hasMore || events.length === 0) return;
    after = events.at(-1)!.seq;
  }
}

/** What an agent did, step by step, and its owner's say in it. The agent itself keeps it all; web only checks whose it is. */
export function createConversations({ roster, backend, models, clock }: ConversationsDeps) {
  const client = async (user: User, agentId: string, address: string) => {
    const agent = await roster.of(user.id).get(agentId);
    return { ...backend.as(user, address), agent };
  };

  const standing = createStanding({ roster, clock });

  return {
    async list(user: User, agentId: string, page: TypesOf<typeof web.conversations.list>['query'], address: string) {
      const { call } = await client(user, agentId, address);
      return reach(call(gateway.conversations.list, { params: { agentId }, query: page }));
    },

    async read(user: User, agentId: string, id: string, page: { after: number; limit: number }, address: string) {
      const { call } = await client(user, agentId, address);
      return reach(call(gateway.conversations.get, { params: { agentId, id }, query: page }));
    },

    async say(
      user: User,
      agentId: string,
      { message, topic, sessionId, ...more }: TypesOf<typeof web.conversations.say>['body'],
      address: string,
    ) {
      const { call, agent } = await client(user, agentId, address);
      // A key of the owner's may open models that nobody here knows.
      if (more.model !== undefined && agent.provider_key === null) await models.check([more.model]);
      const to = sessionId === undefined ? { key: topic || OWN } : { session: sessionId };
      const body = { content: message, ...to, ...more };
      return reach(call(gateway.conversations.say, { params: { agentId }, body }));
    },

    async cancel(user: User, agentId: string, id: string, address: string) {
      const { call } = await client(user, agentId, address);
      return reach(call(gateway.conversations.cancel, { params: { agentId, id } }));
    },

    async decide(user: User, agentId: string, id: string, { always, ...body }: Decision, address: string) {
      const { call, agent } = await client(user, agentId, address);
      // First the rule: where it is refused nothing has happened yet.
      if (always && body.approved) await standing.add(call, user, agent, { approvalId: id, within: always.within });
      return reach(call(gateway.conversations.decide, { params: { agentId, id }, body }));
    },

    async rules(user: User, agentId: string, approvalId: string, address: string) {
      const { call } = await client(user, agentId, address);
      return standing.choices(call, agentId, approvalId);
    },

    async forget(user: User, agentId: string, key: string, address: string) {
      const { call } = await client(user, agentId, address);
      const found = await entryOf(call, agentId, key);
      if (!found) throw new AppError(404, 'Memory not found');
      return reach(call(gateway.memory.forget, { params: { agentId, id: String(found['id']) } }));
    },
  };
}
