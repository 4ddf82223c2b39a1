import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { TasksService } from './service.ts';

export function taskRoutes(server: Server, tasks: TasksService): void {
  serve(server, web.tasks.list, ({ user, query }) => tasks.list(user.id, query.agentId, query));
  serve(server, web.tasks.create, ({ user, body }) => tasks.create(user, body));
  serve(server, web.tasks.update, ({ user, body: { taskId, ...change } }) => tasks.update(user.id, taskId, change));
  serve(server, web.tasks.remove, ({ user, body, query }) => tasks.remove(user.id, body.taskId ?? query.taskId));
  serve(server, web.tasks.listRuns, ({ user, params, query }) => tasks.runs(user.id, params.id, query.limit));
}
