import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { ProvidersService } from './service.ts';

export function providerRoutes(server: Server, providers: ProvidersService): void {
  const by = (user: { id: string }, request: { address: string }) => ({ actorId: user.id, ip: request.address });
  serve(server, web.providers.list, () => providers.list());
  serve(server, web.providers.add, ({ user, body, request }) => providers.add(by(user, request), body));
  serve(server, web.providers.change, ({ user, params, body, request }) =>
    providers.change(by(user, request), params.id, body),
  );
  serve(server, web.providers.remove, ({ user, params, request }) => providers.remove(by(user, request), params.id));
  serve(server, web.providers.test, ({ body }) => providers.test(body));
}
