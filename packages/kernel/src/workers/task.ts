/** Work for a thread of its own: a module that exports `run`, and how long and how much memory it may take. */
export interface Task<In, Out> {
  readonly module: string;
  readonly deadlineMs: number;
  /** Only here for the types. */
  readonly types?: (input: In) => Out;
}

const DEADLINE_MS = 5_000;

/**
 * Called with `new URL` of a file named `….task.ts` beside it, written out, so that whoever packs a program finds it.
 * What goes in and out is copied. The module is loaded by the thread alone: it imports little.
 */
export const defineTask = <Run extends (input: never) => unknown>(
  module: URL,
  deadlineMs = DEADLINE_MS,
): Task<Parameters<Run>[0], Awaited<ReturnType<Run>>> => ({ module: module.href, deadlineMs });

/** What the pool says to a thread, and what the thread answers. */
export interface Order {
  module: string;
  input: unknown;
}

export type Outcome = { ok: true; value: unknown } | { ok: false; error: Failure };

/** An error as it crosses between threads. */
export interface Failure {
  name: string;
  message: string;
  code?: string;
}
