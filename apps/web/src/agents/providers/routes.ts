import { addProvider, changeProvider, listAiProviders, removeProvider, testProvider } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { ProvidersService } from './service.ts';

export function providerRoutes(server: Server, providers: ProvidersService): void {
  const by = (user: { id: string }, request: { address: string }) => ({ actorId: user.id, ip: request.address });
  serve(server, listAiProviders, () => providers.list());
  serve(server, addProvider, ({ user, body, request }) => providers.add(by(user, request), body));
  serve(server, changeProvider, ({ user, params, body, request }) =>
    providers.change(by(user, request), params.id, body),
  );
  serve(server, removeProvider, ({ user, params, request }) => providers.remove(by(user, request), params.id));
  serve(server, testProvider, ({ body }) => providers.test(body));
}
