import { web } from '@troupe/contract';
import { respond, serve, type Server } from '@troupe/kernel';
import type { Paygate } from './service.ts';

export function paygateRoutes(server: Server, paygate: Paygate): void {
  serve(server, web.paygate.get, async () => respond(await paygate.health()));
  serve(server, web.paygate.post, ({ user, body, request }) => paygate.act(user, body, request.address));
}
