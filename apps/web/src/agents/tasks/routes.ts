import { createTask, deleteTask, listTaskRuns, listTasks, updateTask } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { TasksService } from './service.ts';

export function taskRoutes(server: Server, tasks: TasksService): void {
  serve(server, listTasks, ({ user, query }) => tasks.list(user.id, query.agentId, query));
  serve(server, createTask, ({ user, body }) => tasks.create(user, body));
  serve(server, updateTask, ({ user, body: { taskId, ...change } }) => tasks.update(user.id, taskId, change));
  serve(server, deleteTask, ({ user, body, query }) => tasks.remove(user.id, body.taskId ?? query.taskId));
  serve(server, listTaskRuns, ({ user, params, query }) => tasks.runs(user.id, params.id, query.limit));
}
