import {
  getInfraDocs,
  getInfraExamples,
  getInfraHealth,
  getInfraInfo,
  getInfraRepository,
  getInfraSetup,
  getInfraTools,
  validateInfraConfig,
} from '@troupe/contract';
import { redirect, serve, type Server } from '@troupe/kernel';
import type { InfraService } from './service.ts';

const MOVED = 301;

export function infraRoutes(server: Server, infra: InfraService): void {
  serve(server, getInfraHealth, infra.health);
  serve(server, getInfraInfo, infra.info);
  serve(server, getInfraSetup, infra.setup);
  serve(server, getInfraTools, infra.tools);
  serve(server, getInfraExamples, infra.examples);
  serve(server, validateInfraConfig, ({ body }) => infra.validate(body.api_key));
  serve(server, getInfraDocs, () => redirect(infra.documentation, MOVED));
  serve(server, getInfraRepository, () => redirect(infra.repository, MOVED));
}
