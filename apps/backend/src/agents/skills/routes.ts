import { backend } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import { actingFor } from '../../context.ts';
import type { SkillFiles } from './service.ts';

export function skillRoutes(server: Server, skills: SkillFiles): void {
  serve(server, backend.skills.get, ({ user, request, params }) =>
    skills.fetch(request.headers['x-agent-id'], user?.id ?? actingFor(request), params.digest),
  );
}
