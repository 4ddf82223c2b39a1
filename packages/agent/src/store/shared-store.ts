import type { Memory, MemoryStore } from './memory.ts';
import type { Todo, TodoStore } from './todos.ts';

/** What a team shares, kept by whoever all its members reach. */
export interface TeamStore {
  remember: (
    entry: { key?: string; content: string },
    bounds: { maxEntries: number; ttlDays: number },
  ) => Promise<Memory>;
  recall: (search: { query?: string; limit: number; offset?: number }) => Promise<Memory[]>;
  editMemory: MemoryStore['editMemory'];
  forget: MemoryStore['forget'];
  todos: () => Promise<Todo[]>;
  addTodos: (descriptions: readonly string[]) => Promise<Todo[]>;
  setTodo: (id: string, status: Todo['status']) => Promise<Todo | undefined>;
}

/** The store of an agent that is alone on its machine: what belongs to the team goes to `team`, the rest stays here. */
export function withTeamStore<S extends MemoryStore & TodoStore>(own: S, team: TeamStore): S {
  return {
    ...own,
    remember: ({ scope, ...entry }, bounds) =>
      scope === 'team' ? team.remember(entry, bounds) : own.remember({ scope, ...entry }, bounds),
    // What is near is known to whoever keeps it.
    recall: ({ scope, near, ...search }) =>
      scope === 'team' ? team.recall(search) : own.recall({ scope, near, ...search }),
    editMemory: async (...change) => (await own.editMemory(...change)) ?? team.editMemory(...change),
    forget: async (id) => (await own.forget(id)) || team.forget(id),
    todos: (scope) => (scope === 'team' ? team.todos() : own.todos(scope)),
    addTodos: (scope, descriptions) =>
      scope === 'team' ? team.addTodos(descriptions) : own.addTodos(scope, descriptions),
    setTodo: (scope, id, status) => (scope === 'team' ? team.setTodo(id, status) : own.setTodo(scope, id, status)),
  };
}
