import { z } from 'zod';
import { endpoint } from '../../endpoint.ts';
import { AGENT_NOT_FOUND } from '../fields.ts';
import { storeContent, storePath, STORE_TEXTS } from './memory-stores.ts';

const session = z.string().min(1).max(200);
const store = z.string().min(1).max(300);

/** `x-agent-id` names the agent; an agent's own key means that agent. */
export const useStore = endpoint({
  service: 'backend',
  tag: 'Runtime',
  auth: 'internalOrKey',
  method: 'POST',
  path: '/v1/stores/use',
  summary: 'Files of the memory stores that a session was given, for agents that run as programs of their own',
  body: z.discriminatedUnion('op', [
    z.object({ op: z.literal('list'), session, store: store.optional() }),
    z.object({ op: z.literal('read'), session, store, path: z.string().max(1024) }),
    z.object({ op: z.literal('write'), session, store, path: storePath, content: storeContent }),
    z.object({ op: z.literal('remove'), session, store, path: z.string().max(1024) }),
  ]),
  reply: z.object({
    files: z.array(z.object({ store: z.string(), path: z.string(), bytes: z.number() })).optional(),
    content: z.string().optional(),
    removed: z.boolean().optional(),
  }),
  errors: {
    400: ['The memory store is archived'],
    401: ['Unauthorized'],
    403: ['The store <name> is to be read only.'],
    404: [
      AGENT_NOT_FOUND,
      'This session has no memory stores',
      'There is no store <name>. Stores: <names>.',
      'Memory store not found',
    ],
    ...STORE_TEXTS,
  },
});
