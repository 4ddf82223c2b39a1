import type { Auth, Endpoint, Service } from '../endpoint.ts';
import { busRoutes, sendRoute } from './bus.ts';
import { doorRoutes } from './doors.ts';
import { eventRoutes, ticketRoutes } from './events.ts';
import { negotiationRoutes } from './negotiation.ts';
import { splitRoutes } from './splits.ts';
import { walletRoutes } from './wallets.ts';

const routes = <A extends Auth>(service: Service, auth: A) => ({
  ...walletRoutes(service, auth),
  ...busRoutes(service, auth),
  ...doorRoutes(service, auth),
  ...negotiationRoutes(service, auth),
  ...eventRoutes(service, auth),
  ...ticketRoutes(service, auth),
  ...splitRoutes(service, auth),
  sendBusMessage: sendRoute(service),
});

/** The backend's endpoints between agents; web passes the same paths on, with the session's user as the context. */
export const underground = routes('backend', 'userContext');
export const webUnderground = passingOn(routes('web', 'session'));

/** A web route for each of the backend's. */
function passingOn<R extends Record<keyof typeof underground, Endpoint>>(web: R): R {
  const passed = Object.entries(web).map(([name, one]) => [
    name,
    {
      ...one,
      errors: { ...one.errors, 502: ['Backend unavailable'] },
      passesOn: () => [underground[name as keyof typeof underground]],
    },
  ]);
  return Object.fromEntries(passed) as R;
}
