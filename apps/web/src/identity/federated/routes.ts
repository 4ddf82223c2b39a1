import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { Federated } from './service.ts';

export function federatedRoutes(server: Server, federated: Federated): void {
  const methods = ['GET', 'POST'];
  serve(server, web.federated.aboutVerify, () => ({
    endpoint: web.federated.aboutVerify.path,
    methods,
    description: 'Turns a token of the federated identity provider into a session token',
    required: ['fidToken'],
    optional: ['address'],
  }));
  serve(server, web.federated.verify, ({ body }) => federated.verify(body.fidToken, body.address ?? null));
  serve(server, web.federated.aboutRefresh, () => ({
    endpoint: web.federated.aboutRefresh.path,
    methods,
    description: 'Gives a new session token for a refresh token',
    required: ['refreshToken'],
    optional: [],
  }));
  serve(server, web.federated.refresh, ({ body }) => federated.refresh(body.refreshToken));
  serve(server, web.federated.checkGating, ({ body }) => federated.check(body.fid, body.address));
  serve(server, web.federated.readGating, ({ query }) => federated.read(query.address));
}
