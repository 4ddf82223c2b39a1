import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { TasksService } from '../tasks/service.ts';
import type { TriggersService } from './service.ts';

export function triggerRoutes(server: Server, triggers: TriggersService, tasks: TasksService): void {
  serve(server, web.triggers.list, ({ user, params }) => triggers.list(user.id, params.id));
  serve(server, web.triggers.create, ({ user, params, body }) => triggers.create(user, params.id, body));
  serve(server, web.triggers.update, ({ user, params, body }) => triggers.update(user.id, params, body.enabled));
  serve(server, web.triggers.remove, ({ user, params }) => triggers.remove(user.id, params));
  serve(server, web.triggers.rotate, ({ user, params, body }) => triggers.rotate(user.id, params, body.keepOld));
  serve(server, web.triggers.start, ({ user, params, body }) => triggers.start(user.id, params.id, body));
  serve(server, web.triggers.getRun, ({ user, params }) => tasks.run(user.id, params.id, params.runId));
  serve(server, web.triggers.deliver, ({ params, request }) => triggers.deliver(params.triggerId, request));
}
