interface Task {
  enabled: boolean;
  nextRun?: string | null;
}

/** When the next of the tasks that are on is due. */
export const nextOf = (tasks: readonly Task[]): string | undefined =>
  tasks.flatMap(({ enabled, nextRun }) => (enabled && nextRun ? [nextRun] : [])).sort()[0];

export const isRunning = ({ status }: { status: string }): boolean => status === 'running' || status === 'active';

/** Answered, one way or the other. */
export const isSettled = (reads: readonly { data?: unknown; error: Error | null }[]): boolean =>
  reads.every(({ data, error }) => data !== undefined || error !== null);

/** Steps of getting started, and which of them are done. */
export type Done = Readonly<Record<string, boolean>>;

/** What a browser has kept may be anything. */
export const isDone = (value: unknown): value is Done =>
  typeof value === 'object' && value !== null && Object.values(value).every((one) => typeof one === 'boolean');

/** Who has no plan yet is shown the way to one first: it is no step of this way. */
export const isUnderWay = (done: Done): boolean => done['plan'] === true && !Object.values(done).every(Boolean);

/** The steps that count here, in their order, and the first that is not done. */
export function stepsOf<Words>(words: Record<string, Words>, done: Done) {
  const steps = Object.entries(words).filter(([step]) => step in done);
  return { steps, current: steps.find(([step]) => !done[step])?.[0] };
}
