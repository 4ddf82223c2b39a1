import { backend as onBackend, web } from '@troupe/contract';
import { serve, type BackendClient, type Server } from '@troupe/kernel';
import { passOn } from '../../platform/reach.ts';
import { asText, asUserOf } from '../pass.ts';

export function negotiationRoutes(server: Server, backend: BackendClient): void {
  const as = asUserOf(backend);
  serve(server, web.negotiation.listBookings, ({ user, query, request }) =>
    passOn(as(user, request).call(onBackend.negotiation.listBookings, { query: asText(query) })),
  );
  serve(server, web.negotiation.listAmplifications, ({ user, query, request }) =>
    passOn(as(user, request).call(onBackend.negotiation.listAmplifications, { query: asText(query) })),
  );
}
