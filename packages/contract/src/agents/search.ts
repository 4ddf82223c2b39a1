import { z } from 'zod';
import { timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { SEARCH_LENGTH } from '../forms.ts';

const LENGTH = `q must have 1 to ${SEARCH_LENGTH} characters`;
const of = { agentId: z.string(), agentName: z.string() };

const conversation = z.object({
  ...of,
  sessionId: z.string(),
  title: z.string(),
  at: timestamp,
  seq: z.number().nullable().describe('The newest message that has the words; null: its title has them'),
});
export type FoundConversation = z.output<typeof conversation>;

const file = z.object({ ...of, path: z.string(), isFolder: z.boolean() });
export type FoundFile = z.output<typeof file>;

export const get = endpoint({
  service: 'web',
  auth: 'session',
  tag: 'Conversations',
  method: 'GET',
  path: '/api/search',
  summary:
    'What has all of these words, over all of the own agents: agents by name, conversations by title and by what was said (the newest 5,000 messages of each agent, 50,000 together), files by path; up to 20 of each',
  query: z.object({ q: z.string(LENGTH).trim().min(1, LENGTH).max(SEARCH_LENGTH, LENGTH) }),
  reply: z.object({
    agents: z.array(z.object({ id: z.string(), name: z.string() })),
    conversations: z.array(conversation).describe('Those whose title has the words first, then the newest'),
    files: z.array(file).describe('Of workspaces that are kept in the database'),
    unread: z.array(z.string()).describe('Agents that keep their conversations themselves and did not answer'),
  }),
  errors: { 401: ['Unauthorized'] },
});
