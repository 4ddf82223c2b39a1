import { web } from '@troupe/contract';
import { respond, serve, type RequestInfo, type Server } from '@troupe/kernel';
import type { GatewayService } from './service.ts';

const PROTOCOL_HEADERS = ['authorization', 'payment-signature', 'accept'];

export function gatewayRoutes(server: Server, gateway: GatewayService): void {
  serve(server, web.gateway.call, async ({ user, body, request }) => {
    const answer = await gateway.call({
      pluginId: header(request, 'x-plugin-id'),
      method: header(request, 'x-payment-method'),
      sessionId: header(request, 'x-session-id'),
      voucher: header(request, 'x-payment-voucher'),
      input: body,
      user,
      address: request.address,
      request: new Request(new URL(web.gateway.call.path, server.settings.BASE_URL ?? server.url), {
        method: web.gateway.call.method,
        headers: PROTOCOL_HEADERS.flatMap((name): [string, string][] => {
          const value = header(request, name);
          return value === undefined ? [] : [[name, value]];
        }),
      }),
    });
    return respond(answer);
  });
}

function header({ headers }: RequestInfo, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
