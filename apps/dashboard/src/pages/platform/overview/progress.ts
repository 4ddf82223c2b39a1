interface Task {
  enabled: boolean;
  nextRun?: string | null;
}

/** When the next of the tasks that are on is due. */
export const nextOf = (tasks: readonly Task[]): string | undefined =>
  tasks.flatMap(({ enabled, nextRun }) => (enabled && nextRun ? [nextRun] : [])).sort()[0];

export const isRunning = ({ status }: { status: string }): boolean => status === 'running' || status === 'active';

/** Answered, one way or the other: a page that shows what it has would push it down when the rest comes. */
export const isSettled = (reads: readonly { data?: unknown; error: Error | null }[]): boolean =>
  reads.every(({ data, error }) => data !== undefined || error !== null);

/** The steps that count here, in their order, and the first that is not done. */
export function stepsOf<Words>(words: Record<string, Words>, done: Readonly<Record<string, boolean>>) {
  const steps = Object.entries(words).filter(([step]) => step in done);
  return { steps, current: steps.find(([step]) => !done[step])?.[0] };
}
