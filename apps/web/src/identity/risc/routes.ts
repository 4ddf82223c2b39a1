import { riscHealth, riscReceive, riscReceiveLegacy } from '@troupe/contract';
import { respond, serve, type Server } from '@troupe/kernel';
import type { Risc } from './service.ts';

export function riscRoutes(server: Server, risc: Risc): void {
  server.app.addHook('onListen', () => risc.resume());
  serve(server, riscHealth, () => risc.health());
  serve(server, riscReceive, async ({ request }) => {
    await risc.receive(request.rawBody);
    return respond({ status: 202, body: '' });
  });
  serve(server, riscReceiveLegacy, async ({ request }) => {
    await risc.receive(request.rawBody, { byEmailOnly: true });
    return { received: true as const };
  });
}
