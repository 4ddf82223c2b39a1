import { steps } from '../services/director.ts';
import { unless, type Prepare } from './hostile.ts';

const TASKS = 300;
const GATE = 'a model that never answers';

/** Tasks that are all due at once and whose model never answers. */
export const hostileTasks: Prepare = async ({ attacker, director }) => {
  const prompt = steps({ wait: GATE });
  return {
    attack: async (signal) => {
      for (let made = 0; made < TASKS && !signal.aborted; made += 20)
        await Promise.all(
          Array.from({ length: 20 }, (_, index) =>
            attacker.ask('POST', '/api/scheduled-tasks', {
              name: `hangs ${made + index}`,
              cronSchedule: '* * * * * *',
              prompt,
              agentId: attacker.agentId,
            }),
          ),
        );
      await unless(signal, new Promise(() => {}));
    },
    end: async () => {
      const { body } = await attacker.ask('GET', '/api/scheduled-tasks');
      for (const { id } of body.tasks as { id: string }[])
        await attacker.ask('DELETE', `/api/scheduled-tasks?taskId=${id}`);
      director.go(GATE);
    },
  };
};
