import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { SayService } from './service.ts';

export function sayRoutes(server: Server, say: SayService): void {
  serve(server, web.say.plan, ({ user, body, request }) => say.plan(user, body, request.address, request.signal()));
  serve(server, web.say.tryOnce, ({ user, body, request }) =>
    say.tryOnce(user, body, request.address, request.signal()),
  );
  serve(server, web.say.make, ({ user, body, request }) => say.make(user, body, request.address));
}
