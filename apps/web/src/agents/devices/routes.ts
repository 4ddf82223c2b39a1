import { changeDevice, getPairing, listDevices, pairDevice } from '@troupe/contract';
import { bearerToken, serve, type Server } from '@troupe/kernel';
import { ownerOf } from '../../identity/owner.ts';
import type { DevicesService } from './service.ts';

export function deviceRoutes(server: Server, devices: DevicesService): void {
  serve(server, listDevices, ({ user }) => devices.list(ownerOf(user, server)));
  serve(server, changeDevice, ({ user, body }) => devices.change(ownerOf(user, server), body.deviceId, body.action));
  serve(server, pairDevice, ({ body, request }) => devices.pair(bearerToken(request), body.name, request.address));
  serve(server, getPairing, ({ params, request }) => devices.pairing(params.deviceId, bearerToken(request)));
}
