import { backend as onBackend, web } from '@troupe/contract';
import { serve, type BackendClient, type Server } from '@troupe/kernel';
import { passOn } from '../../platform/reach.ts';
import { asUserOf, pageAsText, repeatable } from '../pass.ts';

export function eventRoutes(server: Server, backend: BackendClient): void {
  const as = asUserOf(backend);
  serve(server, web.events.list, ({ user, query, request }) =>
    passOn(as(user, request).call(onBackend.events.list, { query: pageAsText(query) })),
  );
  serve(server, web.events.get, ({ user, params, request }) =>
    passOn(as(user, request).call(onBackend.events.get, { params })),
  );
  serve(server, web.events.create, ({ user, body, request }) =>
    passOn(as(user, request).call(onBackend.events.create, { body })),
  );
  serve(server, web.events.buyTickets, ({ user, params, body, request }) =>
    passOn(as(user, request).call(onBackend.events.buyTickets, { params, body, headers: repeatable(request) })),
  );
}
