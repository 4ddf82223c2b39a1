import { backend } from '@troupe/contract';
import { redirect, serve, type Server } from '@troupe/kernel';
import type { InfraService } from './service.ts';

const MOVED = 301;

export function infraRoutes(server: Server, infra: InfraService): void {
  serve(server, backend.infra.getHealth, infra.health);
  serve(server, backend.infra.getInfo, infra.info);
  serve(server, backend.infra.getSetup, infra.setup);
  serve(server, backend.infra.getTools, infra.tools);
  serve(server, backend.infra.getExamples, infra.examples);
  serve(server, backend.infra.validateConfig, ({ body }) => infra.validate(body.api_key));
  serve(server, backend.infra.getDocs, () => redirect(infra.documentation, MOVED));
  serve(server, backend.infra.getRepository, () => redirect(infra.repository, MOVED));
}
