import { web } from '@troupe/contract';
import { bearerToken, serve, type Server } from '@troupe/kernel';
import { ownerOf } from '../../identity/owner.ts';
import type { DevicesService } from './service.ts';

export function deviceRoutes(server: Server, devices: DevicesService): void {
  serve(server, web.devices.list, ({ user }) => devices.list(ownerOf(user, server)));
  serve(server, web.devices.change, ({ user, body }) =>
    devices.change(ownerOf(user, server), body.deviceId, body.action),
  );
  serve(server, web.devices.pair, ({ body, request }) =>
    devices.pair(bearerToken(request), body.name, request.address),
  );
  serve(server, web.devices.getPairing, ({ params, request }) =>
    devices.pairing(params.deviceId, bearerToken(request)),
  );
}
