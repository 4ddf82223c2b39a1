import { underground, webUnderground } from '@troupe/contract';
import { respond, serve, type BackendClient, type RequestInfo, type Server, type User } from '@troupe/kernel';
import { passOn } from '../platform/reach.ts';

/** The routes are the backend's: web passes them on, with the session's user as the context. */
export function wireUnderground(server: Server, backend: BackendClient): void {
  const as = (user: User, request: RequestInfo) => backend.as(user, request.address);
  /** What makes a repeat of a payment safe goes along. */
  const headersOf = ({ headers }: RequestInfo): Record<string, string> => {
    const key = headers['idempotency-key'];
    return typeof key === 'string' ? { 'idempotency-key': key } : {};
  };

  serve(server, webUnderground.createAgentWallet, async ({ user, body, request }) => {
    const response = await passOn(as(user, request).open(underground.createAgentWallet, { body }));
    return respond({ status: response.status, body: await response.json() });
  });
  serve(server, webUnderground.listAgentWallets, ({ user, request }) =>
    passOn(as(user, request).call(underground.listAgentWallets, {})),
  );
  serve(server, webUnderground.getAgentWalletBalance, ({ user, params, request }) =>
    passOn(as(user, request).call(underground.getAgentWalletBalance, { params })),
  );

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
  serve(server, webUnderground.listBookings, ({ user, query, request }) =>
    passOn(as(user, request).call(underground.listBookings, { query: asText(query) })),
  );
  serve(server, webUnderground.listAmplifications, ({ user, query, request }) =>
    passOn(as(user, request).call(underground.listAmplifications, { query: asText(query) })),
  );

  serve(server, webUnderground.listEvents, ({ user, query, request }) =>
    passOn(
      as(user, request).call(underground.listEvents, { query: { ...asText(query), offset: String(query.offset) } }),
    ),
  );
  serve(server, webUnderground.getEvent, ({ user, params, request }) =>
    passOn(as(user, request).call(underground.getEvent, { params })),
  );
  serve(server, webUnderground.createEvent, ({ user, body, request }) =>
    passOn(as(user, request).call(underground.createEvent, { body })),
  );
  serve(server, webUnderground.buyTickets, ({ user, params, body, request }) =>
    passOn(as(user, request).call(underground.buyTickets, { params, body, headers: headersOf(request) })),
  );

  serve(server, webUnderground.createSplit, ({ user, body, request }) =>
    passOn(as(user, request).call(underground.createSplit, { body, headers: headersOf(request) })),
  );
  serve(server, webUnderground.listSplits, ({ user, query, request }) =>
    passOn(
      as(user, request).call(underground.listSplits, { query: { ...asText(query), offset: String(query.offset) } }),
    ),
  );
}

/** A query that was read once, as it is written. */
const asText = <T extends { limit: number }>({ limit, ...rest }: T) => ({ ...rest, limit: String(limit) });
