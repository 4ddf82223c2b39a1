/** What one body may ask for, and how much of that each caller may have under way. */

/** Messages in one body, as one of the older revisions has it. */
const MOST_MESSAGES = 10;
/** A call of ours has a handful; the library walks them all, several times and on the loop. */
const MOST_VALUES = 2_000;

/** The same before it is read, with what stands between them. */
export const MOST_MARKS = 20_000;

/** Why the body is not even looked at. */
export function bodyProblem(body: unknown): string | undefined {
  if (callsIn(body) > MOST_MESSAGES) return `A body has ${MOST_MESSAGES} messages at most`;
  return hasMoreThan(body, MOST_VALUES) ? `A body has ${MOST_VALUES} values at most` : undefined;
}

function hasMoreThan(body: unknown, most: number): boolean {
  const waiting = [body];
  for (let seen = 1; waiting.length > 0;) {
    const one = waiting.pop();
    if (typeof one !== 'object' || one === null) continue;
    const within = Object.values(one) as unknown[];
    seen += within.length;
    if (seen > most) return true;
    waiting.push(...within);
  }
  return false;
}

export const callsIn = (body: unknown): number => (Array.isArray(body) ? body.length : 1);

/** Places that are taken under a name, and given back once each. */
export function createPlaces() {
  const taken = new Map<string, number>();
  return {
    /** Undefined: there are not as many left of `most`. */
    take(name: string, most: number, wanted = 1): (() => void) | undefined {
      const count = (taken.get(name) ?? 0) + wanted;
      if (count > most) return undefined;
      taken.set(name, count);
      let left = false;
      return () => {
        if (left) return;
        left = true;
        const still = (taken.get(name) ?? wanted) - wanted;
        if (still > 0) taken.set(name, still);
        else taken.delete(name);
      };
    },
  };
}
