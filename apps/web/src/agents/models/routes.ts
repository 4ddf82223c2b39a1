import { web, backend as onBackend } from '@troupe/contract';
import type { Catalogue } from '@troupe/domain';
import { serve, type BackendClient, type Server } from '@troupe/kernel';
import { reach } from '../../platform/reach.ts';
import { modelsOf } from './service.ts';

export function modelRoutes(server: Server, backend: BackendClient, catalogue: Catalogue): void {
  serve(server, web.models.list, ({ user, request }) =>
    modelsOf(backend.as(user, request.address), catalogue, user.plan),
  );
  serve(server, web.models.getAbilities, ({ user, request }) =>
    reach(backend.as(user, request.address).call(onBackend.runtime.getAbilities, {})),
  );
}
