import { z } from 'zod';
import { memoryScope } from '@troupe/domain';
import { TODOS_KEPT, type Todo, type TodoStore } from '../store/todos.ts';
import { failed, tool, type Tool } from './tool.ts';

const show = (todos: readonly Todo[]): string =>
  todos.map(({ id, status, description }) => `${id} [${status}] ${description}`).join('\n') || 'There are no todos.';

const ARGS = {
  create_todos: z.object({ descriptions: z.array(z.string().trim().min(1).max(1000)).min(1).max(50) }),
  update_todo: z.object({ id: z.string(), status: z.enum(['pending', 'in-progress', 'completed']) }),
  list_todos: z.object({}),
};

export function todoTools(store: TodoStore): Tool[] {
  const toolset = 'todo';
  return [
    tool({
      name: 'create_todos',
      toolset,
      description: 'Add todos.',
      args: ARGS.create_todos,
      repeatable: false,
      async run({ descriptions }, { definition }) {
        const scope = memoryScope(definition);
        const open = (await store.todos(scope)).filter(({ status }) => status !== 'completed');
        if (open.length + descriptions.length > TODOS_KEPT)
          return failed(`There are ${open.length} open todos, and at most ${TODOS_KEPT}: complete some first.`);
        return show(await store.addTodos(scope, descriptions));
      },
    }),
    tool({
      name: 'update_todo',
      toolset,
      description: 'Change the status of a todo.',
      args: ARGS.update_todo,
      repeatable: true,
      async run({ id, status }, { definition }) {
        const changed = await store.setTodo(memoryScope(definition), id, status);
        return changed ? show([changed]) : failed(`There is no todo ${id}.`);
      },
    }),
    tool({
      name: 'list_todos',
      toolset,
      description: 'List all todos.',
      args: ARGS.list_todos,
      repeatable: true,
      run: async (_, { definition }) => show(await store.todos(memoryScope(definition))),
    }),
  ];
}
