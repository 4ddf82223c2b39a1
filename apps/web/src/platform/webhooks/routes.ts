import {
  createWebhook,
  deleteWebhook,
  listDeliveries,
  listWebhooks,
  replayDelivery,
  rotateWebhook,
  testWebhook,
  updateWebhook,
} from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { WebhooksService } from './service.ts';

export function webhookRoutes(server: Server, webhooks: WebhooksService): void {
  serve(server, listWebhooks, ({ user }) => webhooks.list(user.id));
  serve(server, createWebhook, ({ user, body }) => webhooks.create(user.id, body));
  serve(server, updateWebhook, ({ user, params, body }) => webhooks.update(user.id, params.id, body));
  serve(server, deleteWebhook, ({ user, params }) => webhooks.remove(user.id, params.id));
  serve(server, rotateWebhook, ({ user, params }) => webhooks.rotate(user.id, params.id));
  serve(server, testWebhook, ({ user, params }) => webhooks.test(user.id, params.id));
  serve(server, listDeliveries, ({ user, params, query }) => webhooks.deliveries(user.id, params.id, query.limit));
  serve(server, replayDelivery, ({ user, params }) => webhooks.replay(user.id, params.id, params.deliveryId));
}
