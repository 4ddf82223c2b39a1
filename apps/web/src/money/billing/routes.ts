import { billingWebhook, createCheckout, createPortal, getBilling } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { CardEvents } from '../card-events.ts';
import type { Billing } from './service.ts';

export function billingRoutes(server: Server, billing: Billing, cardEvents: CardEvents): void {
  serve(server, getBilling, ({ user }) => billing.read(user));
  serve(server, createCheckout, ({ user, body }) => billing.checkout(user, body.plan));
  serve(server, createPortal, ({ user }) => billing.portal(user));
  serve(server, billingWebhook, async ({ request }) => {
    await cardEvents.receive(request);
    return { received: true as const };
  });
}
