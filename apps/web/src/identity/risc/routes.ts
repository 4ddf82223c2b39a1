import { web } from '@troupe/contract';
import { respond, serve, type Server } from '@troupe/kernel';
import type { Risc } from './service.ts';

export function riscRoutes(server: Server, risc: Risc): void {
  server.app.addHook('onListen', () => risc.resume());
  serve(server, web.risc.getHealth, () => risc.health());
  serve(server, web.risc.receive, async ({ request }) => {
    await risc.receive(request.rawBody);
    return respond({ status: 202, body: '' });
  });
  serve(server, web.risc.receiveLegacy, async ({ request }) => {
    await risc.receive(request.rawBody, { byEmailOnly: true });
    return { received: true as const };
  });
}
