import { receiveTopUp, startTopUp } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { TopUps } from './service.ts';

export function topUpRoutes(server: Server, topUps: TopUps): void {
  serve(server, startTopUp, ({ query }) => topUps.start(query.address, query.amount));
  serve(server, receiveTopUp, async ({ request }) => {
    await topUps.receive(request.rawBody, request.headers['billing-signature']);
    return { received: true } as const;
  });
}
