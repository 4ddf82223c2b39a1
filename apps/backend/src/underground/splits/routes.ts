import { backend } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import { idempotencyKey } from '../idempotency.ts';
import type { Splits } from './service.ts';

export function splitRoutes(server: Server, splits: Splits): void {
  serve(server, backend.splits.create, ({ user, body, request }) =>
    splits.create(user.id, body, idempotencyKey(request.headers)),
  );
  serve(server, backend.splits.list, ({ user, query }) => splits.list(user.id, query));
}
