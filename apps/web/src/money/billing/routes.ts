import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { CardEvents } from '../card-events.ts';
import type { Billing } from './service.ts';

export function billingRoutes(server: Server, billing: Billing, cardEvents: CardEvents): void {
  serve(server, web.billing.get, ({ user }) => billing.read(user));
  serve(server, web.billing.createCheckout, ({ user, body }) => billing.checkout(user, body.plan));
  serve(server, web.billing.createPortal, ({ user }) => billing.portal(user));
  serve(server, web.billing.receiveWebhook, async ({ request }) => {
    await cardEvents.receive(request);
    return { received: true as const };
  });
}
