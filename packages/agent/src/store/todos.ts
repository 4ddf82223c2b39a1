import type { Scope } from './memory.ts';

/** What is to be done. A part of every store. */

/** Completed todos further back than this from the newest are forgotten; more than this may not be open. */
export const TODOS_KEPT = 500;

export interface Todo {
  id: string;
  description: string;
  status: 'pending' | 'in-progress' | 'completed';
}

export interface TodoStore {
  todos: (scope: Scope) => Promise<Todo[]>;
  addTodos: (scope: Scope, descriptions: readonly string[]) => Promise<Todo[]>;
  setTodo: (scope: Scope, id: string, status: Todo['status']) => Promise<Todo | undefined>;
}
