import { gateway } from '@troupe/contract';
import type { Database } from '@troupe/db';
import { AppError, type BackendClient, type Clock, type User } from '@troupe/kernel';
import type { Roster } from '@troupe/roster';
import { reach } from '../../platform/reach.ts';
import { toldVisitor } from './told.ts';
import { BY_PERSON, TO_AGENT, TO_PERSON } from './view.ts';
import * as visitors from './visitors-store.ts';

interface AnsweringDeps {
  db: Database;
  roster: Roster;
  backend: BackendClient;
  clock: Clock;
}

interface Whom {
  id: string;
  visitorId: string;
}

const PERSON_IS_HERE = 'You are talking with a person now.';
const AGENT_IS_BACK = 'You are talking with the assistant again.';

/** A person in place of the agent: its words stand in the same conversation, so the agent knows them afterwards. */
export function answering({ db, roster, backend, clock }: AnsweringDeps) {
  async function conversation(user: User, { id: agentId, visitorId }: Whom) {
    await roster.of(user.id).get(agentId);
    const visitor = await visitors.findOfAgent(db.user(user.id), agentId, visitorId);
    if (!visitor) throw new AppError(404, 'Visitor not found');
    if (visitor.session_id === null) throw new AppError(409, 'This visitor has said nothing yet');
    return { visitor, session: visitor.session_id };
  }

  async function told(user: User, { id: agentId, visitorId }: Whom) {
    const found = await visitors.findOfAgent(db.user(user.id), agentId, visitorId);
    if (!found) throw new AppError(404, 'Visitor not found');
    return { visitor: toldVisitor(found) };
  }

  return {
    async reply(user: User, whom: Whom, { message, id }: { message: string; id?: string }, address: string) {
      const { visitor, session } = await conversation(user, whom);
      const { call } = backend.as(user, address);
      const params = { agentId: whom.id };
      // First the state, so that what the visitor says from now on does not go to the agent.
      if (visitor.state !== 'person') {
        const since = visitor.waiting_since ?? clock();
        const isFirst = await visitors.setState(db.user(user.id), visitor.id, 'person', since);
        const body = { session, role: 'assistant' as const, content: PERSON_IS_HERE, by: TO_PERSON };
        if (isFirst) await reach(call(gateway.conversations.note, { params, body }));
      }
      const body = { session, role: 'assistant' as const, content: message, by: BY_PERSON };
      await reach(
        call(gateway.conversations.note, {
          params,
          body: { ...body, ...(id !== undefined && { id: `person:${id}` }) },
        }),
      );
      return told(user, whom);
    },

    async giveBack(user: User, whom: Whom, address: string) {
      const { visitor, session } = await conversation(user, whom);
      const body = { session, role: 'assistant' as const, content: AGENT_IS_BACK, by: TO_AGENT };
      if (await visitors.setState(db.user(user.id), visitor.id, 'agent', null))
        await reach(backend.as(user, address).call(gateway.conversations.note, { params: { agentId: whom.id }, body }));
      return told(user, whom);
    },
  };
}
