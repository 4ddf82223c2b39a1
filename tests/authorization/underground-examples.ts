import type { Make } from './example.ts';
import type { OwnerIds } from './world.ts';

export const ADDRESS = '0x1111111111111111111111111111111111111111';
export const SIGNATURE = `0x${'11'.repeat(65)}`;

export const bus = ({ agentId, agentAddress }: OwnerIds, to: string) => ({
  version: '1.0',
  messageId: 'm-1',
  timestamp: new Date().toISOString(),
  from: { agentId, walletAddress: agentAddress },
  to: { agentId: to },
  action: 'NOTE',
  payload: {},
});

/** Web and the backend have the same routes for these. */
export const UNDERGROUND: Record<string, Make> = {
  'GET /api/underground/bus/messages': ({ agentId }) => ({ query: { agentId } }),
  'POST /api/underground/bus/send': (id) => ({ body: { ...bus(id, id.memberId), signature: SIGNATURE } }),
  'POST /api/underground/bus/sign': (id) => ({ body: { message: bus(id, id.memberId) } }),
  'GET /api/underground/doors/:agentId': ({ agentId }) => ({ params: { agentId } }),
  'PUT /api/underground/doors/:agentId': ({ agentId, memberId }) => ({
    params: { agentId },
    body: { open: true, contacts: [memberId], messagesPerDay: 50, perSender: 5 },
  }),
  'POST /api/underground/events': ({ agentId }) => ({
    body: {
      agentId,
      name: 'n',
      description: 'd',
      venue: 'v',
      eventDate: '2030-01-01',
      ticketPriceUsdc: '2',
      totalTickets: 5,
    },
  }),
  'GET /api/underground/events/:id': ({ eventId: id }) => ({ params: { id } }),
  'POST /api/underground/events/:id/tickets': ({ eventId: id, agentId }) => ({
    params: { id },
    body: { agentId, quantity: 1 },
  }),
  'POST /api/underground/splits': ({ agentId }) => ({
    body: { agentId, name: 'n', totalAmount: '2', recipients: [{ address: ADDRESS, share: 100 }] },
  }),
  'POST /api/underground/wallets': ({ agentId }) => [
    { body: { agentId, address: ADDRESS, proof: SIGNATURE } },
    { body: { agentId } },
  ],
  'GET /api/underground/wallets/:address/balance': ({ agentAddress: address }) => ({ params: { address } }),
};
