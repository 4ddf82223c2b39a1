import { usage } from '../problem.mjs';
import { findAgent } from './agents.mjs';

/** @typedef {import('../context.d.mts').Context} Context */

/** @param {Context} context */
export async function tasks({ words: [action = 'list', word], options, output, troupe: connect, signal }) {
  const troupe = await connect();
  switch (action) {
    case 'list': {
      const { agent } = options;
      const query = typeof agent === 'string' ? { agentId: (await findAgent(troupe, agent, signal)).id } : {};
      const found = await troupe.call('GET /api/scheduled-tasks', { query, signal });
      return output.show(found, () => {
        if (found.tasks.length === 0) return output.line('No tasks');
        const rows = found.tasks.map(({ id, name, cronSchedule, enabled, nextRun }) => ({
          id,
          name,
          schedule: cronSchedule,
          next: enabled ? (nextRun ?? '') : 'off',
        }));
        output.table(rows, ['id', 'name', 'schedule', 'next']);
      });
    }
    case 'create': {
      const { name, cron, prompt, timezone } = options;
      if (typeof name !== 'string' || typeof cron !== 'string' || typeof prompt !== 'string')
        throw usage('A task needs --name, --cron and --prompt.');
      const { id: agentId } = await findAgent(troupe, word, signal);
      const zone = typeof timezone === 'string' ? { timezone } : {};
      const body = { name, cronSchedule: cron, prompt, agentId, ...zone };
      const task = await troupe.call('POST /api/scheduled-tasks', { body, signal });
      return output.show(task, () => output.line(`${task.id}  next ${task.nextRun ?? 'never'}`));
    }
    case 'runs': {
      if (!word) throw usage('Which task?');
      const found = await troupe.call('GET /api/scheduled-tasks/:id/runs', { params: { id: word }, signal });
      return output.show(found, () => {
        if (found.runs.length === 0) return output.line('It has not run yet');
        const rows = found.runs.map(({ dueAt, status, output: said, error }) => ({
          due: dueAt,
          status,
          came: (said ?? error ?? '').slice(0, 100),
        }));
        output.table(rows, ['due', 'status', 'came']);
      });
    }
    case 'run': {
      if (!word) throw usage('Which task?');
      const { input } = options;
      const body = typeof input === 'string' ? { input } : {};
      const taken = await troupe.call('POST /api/scheduled-tasks/:id/run', { params: { id: word }, body, signal });
      return output.show(taken, () => output.line(`${taken.receiptId}  waits for its turn`));
    }
    case 'delete': {
      if (!word) throw usage('Which task?');
      if (!options['yes']) throw usage('The task and its history would be gone: say --yes.');
      const done = await troupe.call('DELETE /api/scheduled-tasks', { query: { taskId: word }, signal });
      return output.show(done, () => output.line('The task is deleted'));
    }
    default:
      throw usage(`troupe tasks has no ${action}.`);
  }
}
