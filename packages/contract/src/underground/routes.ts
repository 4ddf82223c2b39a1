import type { Auth, Service } from '../endpoint.ts';
import { busRoutes, sendRoute } from './bus.ts';
import { doorRoutes } from './doors.ts';
import { eventRoutes, ticketRoutes } from './events.ts';
import { negotiationRoutes } from './negotiation.ts';
import { splitRoutes } from './splits.ts';
import { walletRoutes } from './wallets.ts';

/** The endpoints between agents, by slice: the backend has them, and web passes the same paths on. */
export const routes = <A extends Auth>(service: Service, auth: A) => ({
  bus: { ...busRoutes(service, auth), ...doorRoutes(service, auth), send: sendRoute(service) },
  events: { ...eventRoutes(service, auth), ...ticketRoutes(service, auth) },
  negotiation: negotiationRoutes(service, auth),
  splits: splitRoutes(service, auth),
  wallets: walletRoutes(service, auth),
});
