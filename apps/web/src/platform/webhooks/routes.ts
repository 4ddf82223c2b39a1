import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { WebhooksService } from './service.ts';

export function webhookRoutes(server: Server, webhooks: WebhooksService): void {
  serve(server, web.webhooks.list, ({ user }) => webhooks.list(user.id));
  serve(server, web.webhooks.create, ({ user, body }) => webhooks.create(user.id, body));
  serve(server, web.webhooks.update, ({ user, params, body }) => webhooks.update(user.id, params.id, body));
  serve(server, web.webhooks.remove, ({ user, params }) => webhooks.remove(user.id, params.id));
  serve(server, web.webhooks.rotate, ({ user, params }) => webhooks.rotate(user.id, params.id));
  serve(server, web.webhooks.test, ({ user, params }) => webhooks.test(user.id, params.id));
  serve(server, web.webhooks.listDeliveries, ({ user, params, query }) =>
    webhooks.deliveries(user.id, params.id, query.limit),
  );
  serve(server, web.webhooks.replay, ({ user, params }) => webhooks.replay(user.id, params.id, params.deliveryId));
}
