import type { Make } from './example.ts';

const TRIGGER = '/api/scheduled-tasks/:id/triggers/:triggerId';
const task = ({ taskId: id }: { taskId: string }) => ({ params: { id } });
const trigger = ({ taskId: id, triggerId }: { taskId: string; triggerId: string }) => ({ params: { id, triggerId } });

/** What starts a task. */
export const TRIGGERS: Record<string, Make> = {
  'GET /api/scheduled-tasks/:id/triggers': task,
  'POST /api/scheduled-tasks/:id/triggers': (ids) => [
    { ...task(ids), body: { kind: 'webhook' } },
    { ...task(ids), body: { kind: 'task', afterTaskId: ids.taskId } },
  ],
  'POST /api/scheduled-tasks/:id/run': (ids) => ({ ...task(ids), body: { input: 'now', key: 'once' } }),
  'GET /api/scheduled-tasks/:id/runs/:runId': ({ taskId: id, runId }) => ({ params: { id, runId } }),
  [`PATCH ${TRIGGER}`]: (ids) => ({ ...trigger(ids), body: { enabled: false } }),
  [`DELETE ${TRIGGER}`]: trigger,
  [`POST ${TRIGGER}/rotate`]: (ids) => ({ ...trigger(ids), body: {} }),
  'POST /api/hooks/:triggerId': ({ triggerId }) => ({ params: { triggerId } }),
};
