import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { ProvisionService } from './service.ts';

export function provisionRoutes(server: Server, service: ProvisionService): void {
  serve(server, web.provision.create, async ({ user, body, request }) =>
    service.provision(user, body, request.address),
  );
}
