import type { SessionHead } from '@troupe/contract';

const DAY = 86_400_000;
const AGES = [
  ['day', DAY],
  ['week', 7 * DAY],
  ['earlier', Infinity],
] as const;

export type Age = (typeof AGES)[number][0];

/** Conversations by when something was last said in them; none of them twice, and no empty group. */
export function byAge<T extends Pick<SessionHead, 'updatedAt'>>(sessions: readonly T[], now: number): [Age, T[]][] {
  const ageOf = ({ updatedAt }: T): Age =>
    AGES.find(([, most]) => now - Date.parse(updatedAt) < most)?.[0] ?? 'earlier';
  const found = Map.groupBy(sessions, ageOf);
  return AGES.flatMap(([age]): [Age, T[]][] => {
    const list = found.get(age);
    return list ? [[age, list]] : [];
  });
}
