import type { BackendClient, Server } from '@troupe/kernel';
import { busRoutes } from './bus/routes.ts';
import { eventRoutes } from './events/routes.ts';
import { negotiationRoutes } from './negotiation/routes.ts';
import { splitRoutes } from './splits/routes.ts';
import { walletRoutes } from './wallets/routes.ts';

/** Wires how agents deal with each other: all of it is the backend's work. */
export function wireUnderground(server: Server, backend: BackendClient): void {
  for (const routes of [walletRoutes, busRoutes, negotiationRoutes, eventRoutes, splitRoutes]) routes(server, backend);
}
