import { underground, webUnderground } from '@troupe/contract';
import { serve, type BackendClient, type Server } from '@troupe/kernel';
import { passOn } from '../../platform/reach.ts';
import { asUserOf, pageAsText, repeatable } from '../pass.ts';

export function eventRoutes(server: Server, backend: BackendClient): void {
  const as = asUserOf(backend);
  serve(server, webUnderground.listEvents, ({ user, query, request }) =>
    passOn(as(user, request).call(underground.listEvents, { query: pageAsText(query) })),
  );
  serve(server, webUnderground.getEvent, ({ user, params, request }) =>
    passOn(as(user, request).call(underground.getEvent, { params })),
  );
  serve(server, webUnderground.createEvent, ({ user, body, request }) =>
    passOn(as(user, request).call(underground.createEvent, { body })),
  );
  serve(server, webUnderground.buyTickets, ({ user, params, body, request }) =>
    passOn(as(user, request).call(underground.buyTickets, { params, body, headers: repeatable(request) })),
  );
}
