import { backend } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import { callerOf } from '../../context.ts';
import type { ProvisionService } from './service.ts';

export function provisionRoutes(server: Server, provision: ProvisionService): void {
  serve(server, backend.provision.create, ({ request, body }) => provision.provision(callerOf(request), body));
}
