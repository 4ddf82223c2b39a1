import type { web, TypesOf } from '@troupe/contract';

export type Entry = TypesOf<typeof web.agents.getLogs>['reply']['logs'][number];

/** A page holds only so many. */
export const MOST_ENTRIES = 500;

/** With one that has just come, newest first; the stream says some twice. */
export const withEntry = (entries: Entry[], entry: Entry): Entry[] =>
  entries.some(({ id }) => id === entry.id) ? entries : [entry, ...entries].slice(0, MOST_ENTRIES);

/** What has come since, then what was there, each once; of one level, or of all. */
export function entriesShown(fresh: readonly Entry[], read: readonly Entry[], level: Entry['level'] | ''): Entry[] {
  const known = new Set(fresh.map(({ id }) => id));
  return [...fresh, ...read.filter(({ id }) => !known.has(id))].filter((entry) => !level || entry.level === level);
}
