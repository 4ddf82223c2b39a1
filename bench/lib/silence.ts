/**
 * The longest time in which nobody was answered, from one moment to another. What was already on its way then is answered
 * at once and ends nothing: so it is not the time to the first answer. Infinity when nobody was answered any more.
 */
export function longestSilence(answers: readonly number[], from: number, until: number): number {
  const inside = answers.filter((at) => at > from && at < until);
  if (inside.length === 0) return Infinity;
  const moments = [from, ...inside, until].toSorted((a, b) => a - b);
  return Math.max(...moments.slice(1).map((at, index) => at - moments[index]!));
}
