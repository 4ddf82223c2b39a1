import type { Endpoint } from '../endpoint.ts';
import * as backend from './backend.ts';
import { routes } from './routes.ts';

/** With the session's user as the context. */
const passed = routes('web', 'session');

export const bus = passingOn(passed.bus, backend.bus);
export const events = passingOn(passed.events, backend.events);
export const negotiation = passingOn(passed.negotiation, backend.negotiation);
export const splits = passingOn(passed.splits, backend.splits);
export const wallets = passingOn(passed.wallets, backend.wallets);

/** A web route for each of the backend's. Its schemas are left alone: whoever copies them asks for them. */
function passingOn<R extends Record<string, Endpoint>>(web: R, behind: Record<keyof R, Endpoint>): R {
  for (const [name, one] of Object.entries(web)) {
    one.errors = { ...one.errors, 502: ['Backend unavailable'] };
    one.passesOn = () => [behind[name]!];
  }
  return web;
}
