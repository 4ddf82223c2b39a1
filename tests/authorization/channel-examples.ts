import type { Make } from './example.ts';

const channel = ({ agentId: id }: { agentId: string }) => ({ params: { id, kind: 'email' } });

/** Channels of an agent, at web and at the backend alike. */
export const CHANNELS: Record<string, Make> = {
  'DELETE /api/agents/:id/channels/:kind': channel,
  'PUT /api/agents/:id/channels/:kind': (ids) => ({ ...channel(ids), body: { settings: {}, allowed: ['*'] } }),
  'POST /api/agents/:id/channels/:kind/test': (ids) => ({ ...channel(ids), body: {} }),
};
