import { randomHex } from '@troupe/kernel';

/** Words that stand nowhere but in what belongs to the owner. Seeing one in an answer to somebody else is a leak. */
export interface Marks {
  /** A word for a field that holds text. */
  mark: (field: string) => string;
  /** A token of the owner: 64 hex digits. */
  secret: (name: string) => string;
  /** A secret that was made elsewhere. */
  keep: (name: string, value: string) => void;
  /** Names of the marks and secrets in `answer` that are not in `request`: an echo tells nothing. */
  foundIn: (answer: string, request: string) => string[];
}

export function createMarks(): Marks {
  const base = `mrk${randomHex(6)}`;
  const pattern = new RegExp(`${base}x\\w*?z`, 'gi');
  const secrets = new Map<string, string>();
  return {
    mark: (field) => `${base}x${field}z`,
    secret(name) {
      const known = secrets.get(name) ?? randomHex(32);
      secrets.set(name, known);
      return known;
    },
    keep: (name, value) => void secrets.set(name, value),
    foundIn(answer, request) {
      const sent = request.toLowerCase();
      const marks = [...answer.matchAll(pattern)]
        .map(([word]) => word)
        .filter((word) => !sent.includes(word.toLowerCase()));
      const shown = [...secrets].filter(([, value]) => answer.includes(value) && !request.includes(value));
      return [...new Set([...marks, ...shown.map(([name]) => `the owner's ${name}`)])];
    },
  };
}
