import { billingWebhook, createCheckout, createPortal, getBilling } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { Billing } from './service.ts';

export function billingRoutes(server: Server, billing: Billing): void {
  serve(server, getBilling, ({ user }) => billing.read(user));
  serve(server, createCheckout, ({ user, body }) => billing.checkout(user, body.plan));
  serve(server, createPortal, ({ user }) => billing.portal(user));
  serve(server, billingWebhook, async ({ request }) => {
    // The processor itself sends the second name.
    const signature = request.headers['billing-signature'] ?? request.headers['stripe-signature'];
    await billing.receive(request.rawBody, signature);
    return { received: true as const };
  });
}
