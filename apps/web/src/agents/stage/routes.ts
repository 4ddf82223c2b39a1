import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { StageService } from './service.ts';

export function stageRoutes(server: Server, stage: StageService): void {
  serve(server, web.stage.get, ({ user }) => stage.read(user.id));
}
