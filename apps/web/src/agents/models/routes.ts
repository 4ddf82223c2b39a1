import { listModels } from '@troupe/contract';
import type { Catalogue } from '@troupe/domain';
import { serve, type BackendClient, type Server } from '@troupe/kernel';
import { modelsOf } from './service.ts';

export function modelRoutes(server: Server, backend: BackendClient, catalogue: Catalogue): void {
  serve(server, listModels, ({ user, request }) => modelsOf(backend.as(user, request.address), catalogue, user.plan));
}
