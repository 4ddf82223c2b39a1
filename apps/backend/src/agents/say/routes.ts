import { backend } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import { actingFor } from '../../context.ts';
import type { SayService } from './service.ts';

export function sayRoutes(server: Server, say: SayService): void {
  serve(server, backend.say.tryOnce, ({ request, body }) => say.tryOnce(actingFor(request), body, request.signal()));
}
