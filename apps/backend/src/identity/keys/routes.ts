import { backend } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { KeyService } from './service.ts';

export function keyRoutes(server: Server, keys: KeyService): void {
  serve(server, backend.keys.validate, ({ request }) => keys.validate(request.headers.authorization));
}
