import type { Example, Make } from './example.ts';
import type { OwnerIds } from './world.ts';

/** What clients of OpenAI and of Anthropic keep on the platform: responses, agents, environments, sessions. */

const response = ({ responseId: id }: OwnerIds): Example => ({ params: { id } });
const agent = ({ agentId: id }: OwnerIds): Example => ({ params: { id } });
const environment = ({ environmentId: id }: OwnerIds): Example => ({ params: { id } });
const session = ({ managedSessionId: id }: OwnerIds): Example => ({ params: { id } });
const said = { type: 'user.message', content: [{ type: 'text', text: 'hello' }] };

export const MANAGED: Record<string, Make> = {
  'GET /v1/responses/:id': response,
  'DELETE /v1/responses/:id': response,
  'POST /v1/responses/:id/cancel': response,
  'GET /v1/responses/:id/input_items': response,
  'POST /v1/agents': () => ({ body: { name: 'stolen', model: 'm' } }),
  'GET /v1/agents': () => ({}),
  'GET /v1/agents/:id': agent,
  'POST /v1/agents/:id': (id) => ({ ...agent(id), body: { system: 'stolen' } }),
  'POST /v1/agents/:id/archive': agent,
  'GET /v1/agents/:id/versions': agent,
  'POST /v1/environments': () => ({ body: { name: 'own' } }),
  'GET /v1/environments': () => ({}),
  'GET /v1/environments/:id': environment,
  'POST /v1/environments/:id': (id) => ({ ...environment(id), body: { name: 'stolen' } }),
  'POST /v1/environments/:id/archive': environment,
  'DELETE /v1/environments/:id': environment,
  'POST /v1/sessions': ({ agentId, environmentId }) => ({ body: { agent: agentId, environment_id: environmentId } }),
  'GET /v1/sessions': ({ agentId }) => ({ query: { agent_id: agentId } }),
  'GET /v1/sessions/:id': session,
  'POST /v1/sessions/:id': (id) => ({ ...session(id), body: { title: 'stolen' } }),
  'POST /v1/sessions/:id/archive': session,
  'DELETE /v1/sessions/:id': session,
  'POST /v1/sessions/:id/events': (id) => ({ ...session(id), body: { events: [said] } }),
  'GET /v1/sessions/:id/events': session,
  'GET /v1/sessions/:id/events/stream': session,
};
