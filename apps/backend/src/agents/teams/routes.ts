import { listTeamTemplates } from '@troupe/contract';
import { templateList } from '@troupe/domain';
import { serve, type Server } from '@troupe/kernel';

export function teamRoutes(server: Server): void {
  const list = templateList();
  serve(server, listTeamTemplates, () => list);
}
