import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { CardEvents } from '../card-events.ts';
import { as500, type TopUps } from './service.ts';

export function topUpRoutes(server: Server, topUps: TopUps, cardEvents: CardEvents): void {
  serve(server, web.topup.start, ({ query }) => topUps.start(query.address, query.amount));
  serve(server, web.topup.receive, async ({ request }) => {
    await cardEvents.receive(request).catch(as500);
    return { received: true } as const;
  });
}
