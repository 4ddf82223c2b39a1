import { underground } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import { idempotencyKey } from '../idempotency.ts';
import type { Splits } from './service.ts';

export function splitRoutes(server: Server, splits: Splits): void {
  serve(server, underground.createSplit, ({ user, body, request }) =>
    splits.create(user.id, body, idempotencyKey(request.headers)),
  );
  serve(server, underground.listSplits, ({ user, query }) => splits.list(user.id, query));
}
