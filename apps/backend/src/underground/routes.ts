import { underground } from '@troupe/contract';
import { respond, serve, type Server } from '@troupe/kernel';
import type { Amplify } from './amplify.ts';
import type { Bookings } from './bookings.ts';
import type { Bus } from './bus.ts';
import type { Doors } from './door.ts';
import type { Events } from './events.ts';
import { idempotencyKey } from './idempotency.ts';
import type { Splits } from './splits.ts';
import type { AgentWallets } from './wallets.ts';

export interface Underground {
  wallets: AgentWallets;
  bus: Bus;
  doors: Doors;
  bookings: Bookings;
  amplify: Amplify;
  events: Events;
  splits: Splits;
}

export function undergroundRoutes(server: Server, services: Underground): void {
  const { wallets, bus, doors, bookings, amplify, events, splits } = services;
  serve(server, underground.createAgentWallet, async ({ user, body }) => {
    const { made, wallet } = await wallets.create(user.id, body);
    return respond({ status: made ? 201 : 200, body: wallet });
  });
  serve(server, underground.listAgentWallets, ({ user }) => wallets.list(user.id));
  serve(server, underground.getAgentWalletBalance, ({ user, params }) => wallets.balance(user.id, params.address));

  serve(server, underground.sendBusMessage, ({ body }) => bus.send(body));
  serve(server, underground.signBusMessage, ({ user, body }) => bus.sign(user.id, body.message));
  serve(server, underground.listBusMessages, ({ user, query }) => bus.list(user.id, query.agentId, query.limit));
  serve(server, underground.getAgentDoor, ({ user, params }) => doors.read(user.id, params.agentId));
  serve(server, underground.setAgentDoor, ({ user, params, body }) => doors.set(user.id, params.agentId, body));
  serve(server, underground.listBookings, ({ user, query }) => bookings.list(user.id, query.limit));
  serve(server, underground.listAmplifications, ({ user, query }) => amplify.list(user.id, query.limit));

  serve(server, underground.listEvents, ({ user, query }) => events.list(user.id, query));
  serve(server, underground.getEvent, ({ params }) => events.get(params.id));
  serve(server, underground.createEvent, ({ user, body }) => events.create(user.id, body));
  serve(server, underground.buyTickets, ({ user, params, body, request }) =>
    events.buy(user.id, params.id, { ...body, key: idempotencyKey(request.headers) }),
  );

  serve(server, underground.createSplit, ({ user, body, request }) =>
    splits.create(user.id, body, idempotencyKey(request.headers)),
  );
  serve(server, underground.listSplits, ({ user, query }) => splits.list(user.id, query));
}
