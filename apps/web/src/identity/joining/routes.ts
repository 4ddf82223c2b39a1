import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { Joining } from './service.ts';

export function joiningRoutes(server: Server, joining: Joining): void {
  serve(server, web.joining.getMode, () => joining.mode());
  serve(server, web.joining.get, () => joining.read());
  serve(server, web.joining.change, ({ user, body, request }) =>
    joining.change({ actorId: user.id, ip: request.address }, body),
  );
}
