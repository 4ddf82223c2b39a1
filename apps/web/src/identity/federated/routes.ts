import {
  aboutFederatedRefresh,
  aboutFederatedVerify,
  checkGating,
  federatedRefresh,
  federatedVerify,
  readGating,
} from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { Federated } from './service.ts';

export function federatedRoutes(server: Server, federated: Federated): void {
  const methods = ['GET', 'POST'];
  serve(server, aboutFederatedVerify, () => ({
    endpoint: aboutFederatedVerify.path,
    methods,
    description: 'Turns a token of the federated identity provider into a session token',
    required: ['fidToken'],
    optional: ['address'],
  }));
  serve(server, federatedVerify, ({ body }) => federated.verify(body.fidToken, body.address ?? null));
  serve(server, aboutFederatedRefresh, () => ({
    endpoint: aboutFederatedRefresh.path,
    methods,
    description: 'Gives a new session token for a refresh token',
    required: ['refreshToken'],
    optional: [],
  }));
  serve(server, federatedRefresh, ({ body }) => federated.refresh(body.refreshToken));
  serve(server, checkGating, ({ body }) => federated.check(body.fid, body.address));
  serve(server, readGating, ({ query }) => federated.read(query.address));
}
