import { listModels, type Client } from '@troupe/contract';
import type { Catalogue } from '@troupe/domain';
import { serve, type Server } from '@troupe/kernel';
import { modelsOf } from './service.ts';

export function modelRoutes(server: Server, backend: Client, catalogue: Catalogue): void {
  serve(server, listModels, ({ user }) => modelsOf(backend, catalogue, user.plan));
}
