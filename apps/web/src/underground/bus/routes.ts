import { backend as onBackend, web } from '@troupe/contract';
import { serve, type BackendClient, type Server } from '@troupe/kernel';
import { passOn } from '../../platform/reach.ts';
import { asText, asUserOf } from '../pass.ts';

export function busRoutes(server: Server, backend: BackendClient): void {
  const as = asUserOf(backend);
  serve(server, web.bus.send, ({ body, request }) =>
    passOn(backend.from(request.address).call(onBackend.bus.send, { body })),
  );
  serve(server, web.bus.sign, ({ user, body, request }) =>
    passOn(as(user, request).call(onBackend.bus.sign, { body })),
  );
  serve(server, web.bus.list, ({ user, query, request }) =>
    passOn(as(user, request).call(onBackend.bus.list, { query: asText(query) })),
  );
  serve(server, web.bus.getDoor, ({ user, params, request }) =>
    passOn(as(user, request).call(onBackend.bus.getDoor, { params })),
  );
  serve(server, web.bus.setDoor, ({ user, params, body, request }) =>
    passOn(as(user, request).call(onBackend.bus.setDoor, { params, body })),
  );
}
