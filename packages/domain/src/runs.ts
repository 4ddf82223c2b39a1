interface Step {
  seq: number;
  type: string;
  /** Of the end of a run: the first input that it does not end. */
  leaves?: number | undefined;
}

/**
 * The steps of one run, from its first input to its end, as far as there are any. What is said after a run was told to
 * stop is the next one's: that has none of the steps that were still stored of the run before.
 */
export function stepsOfRun<T extends Step>(steps: readonly T[], first: number): T[] {
  const own = steps.filter(({ seq }) => seq >= first);
  const before = own.findIndex(({ type, leaves }) => type === 'run_ended' && leaves === first);
  const end = own.findIndex(({ type }, at) => at > before && type === 'run_ended');
  const next = own[end]?.leaves ?? Infinity;
  return own
    .slice(0, end < 0 ? undefined : end + 1)
    .filter(({ seq, type }, at) => (at > before ? type !== 'user' || seq < next : type === 'user'));
}
