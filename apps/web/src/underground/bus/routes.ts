import { underground, webUnderground } from '@troupe/contract';
import { serve, type BackendClient, type Server } from '@troupe/kernel';
import { passOn } from '../../platform/reach.ts';
import { asText, asUserOf } from '../pass.ts';

export function busRoutes(server: Server, backend: BackendClient): void {
  const as = asUserOf(backend);
  serve(server, webUnderground.sendBusMessage, ({ body, request }) =>
    passOn(backend.from(request.address).call(underground.sendBusMessage, { body })),
  );
  serve(server, webUnderground.signBusMessage, ({ user, body, request }) =>
    passOn(as(user, request).call(underground.signBusMessage, { body })),
  );
  serve(server, webUnderground.listBusMessages, ({ user, query, request }) =>
    passOn(as(user, request).call(underground.listBusMessages, { query: asText(query) })),
  );
  serve(server, webUnderground.getAgentDoor, ({ user, params, request }) =>
    passOn(as(user, request).call(underground.getAgentDoor, { params })),
  );
  serve(server, webUnderground.setAgentDoor, ({ user, params, body, request }) =>
    passOn(as(user, request).call(underground.setAgentDoor, { params, body })),
  );
}
