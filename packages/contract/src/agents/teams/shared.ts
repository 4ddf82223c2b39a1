import { z } from 'zod';
import { AGENT_NOT_FOUND } from '../fields.ts';
import { endpoint } from '../../endpoint.ts';

const bounds = z.object({ maxEntries: z.number().int().positive(), ttlDays: z.number().positive() });
const content = z.string().min(1).max(100_000);
const op = <N extends string>(name: N) => z.literal(name);

/** What the members of a team do with what they share. */
const teamStoreCall = z.discriminatedUnion('op', [
  z.object({ op: op('remember'), key: z.string().max(1000).optional(), content, bounds }),
  z.object({
    op: op('recall'),
    query: z.string().max(100_000).optional(),
    limit: z.number().int().min(1).max(1000),
    offset: z.number().int().min(0).max(1_000_000).optional(),
  }),
  z.object({ op: op('editMemory'), id: z.string(), content, bounds }),
  z.object({ op: op('forget'), id: z.string() }),
  z.object({ op: op('todos') }),
  z.object({ op: op('addTodos'), descriptions: z.array(z.string().min(1).max(1000)).min(1).max(50) }),
  z.object({ op: op('setTodo'), id: z.string(), status: z.enum(['pending', 'in-progress', 'completed']) }),
]);
export type TeamStoreCall = z.output<typeof teamStoreCall>;

/** `x-agent-id` names the member; an agent's own key means that agent. */
export const useTeamStore = endpoint({
  service: 'backend',
  tag: 'Runtime',
  auth: 'internalOrKey',
  method: 'POST',
  path: '/v1/team-store',
  summary: 'Memory and to-do list of a team, for members that run as programs of their own',
  body: teamStoreCall,
  reply: z.object({ result: z.unknown() }),
  errors: { 401: ['Unauthorized'], 404: [AGENT_NOT_FOUND] },
});
