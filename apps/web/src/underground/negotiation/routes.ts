import { underground, webUnderground } from '@troupe/contract';
import { serve, type BackendClient, type Server } from '@troupe/kernel';
import { passOn } from '../../platform/reach.ts';
import { asText, asUserOf } from '../pass.ts';

export function negotiationRoutes(server: Server, backend: BackendClient): void {
  const as = asUserOf(backend);
  serve(server, webUnderground.listBookings, ({ user, query, request }) =>
    passOn(as(user, request).call(underground.listBookings, { query: asText(query) })),
  );
  serve(server, webUnderground.listAmplifications, ({ user, query, request }) =>
    passOn(as(user, request).call(underground.listAmplifications, { query: asText(query) })),
  );
}
