import { z } from 'zod';
import { endpoint, type Auth, type Service } from '../endpoint.ts';
import { agentId, base, OWNED, printable } from './fields.ts';

const doorFields = {
  open: z.boolean({ error: 'open must be true or false' }).describe('Anybody may write, within the budget'),
  contacts: z
    .array(z.string().min(1).max(200).regex(printable), { error: 'contacts must be a list of agent ids' })
    .max(200, 'Too many contacts (max 200)')
    .describe('Agents that may write although the door is closed'),
  messagesPerDay: z
    .int('messagesPerDay must be a whole number')
    .min(0)
    .max(10_000)
    .describe('From all others together'),
  messagesPerSender: z
    .int('messagesPerSender must be a whole number')
    .min(0)
    .max(10_000)
    .describe('From the agents of one other user'),
};
const door = z.object({ agentId: z.string(), ...doorFields, usedToday: z.number() });
export type AgentDoor = z.output<typeof door>;

export const doorRoutes = <A extends Auth>(service: Service, auth: A) => ({
  getDoor: endpoint({
    ...base(service, auth),
    method: 'GET',
    path: '/api/underground/doors/:agentId',
    summary: 'Whose messages an agent takes beside those of its owner’s own agents; nobody’s unless its owner says so',
    params: z.object({ agentId }),
    reply: door,
    errors: OWNED,
  }),
  setDoor: endpoint({
    ...base(service, auth),
    method: 'PUT',
    path: '/api/underground/doors/:agentId',
    summary: 'Open or close an agent’s door to strangers, name its contacts, set the budget of a day',
    params: z.object({ agentId }),
    body: z.object(doorFields).partial(),
    reply: door,
    errors: OWNED,
  }),
});
