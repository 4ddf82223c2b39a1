/** The pairs of letters of a name: two names that share many are alike, whatever stands before or between them. */
function pairsOf(text: string): Map<string, number> {
  const letters = text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const pairs = new Map<string, number>();
  for (let at = 0; at + 2 <= letters.length; at += 1) {
    const pair = letters.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

const sizeOf = (pairs: Map<string, number>): number => [...pairs.values()].reduce((sum, count) => sum + count, 0);

function likeness(a: Map<string, number>, b: Map<string, number>): number {
  let shared = 0;
  for (const [pair, count] of a) shared += Math.min(count, b.get(pair) ?? 0);
  const size = sizeOf(a) + sizeOf(b);
  return size === 0 ? 0 : (2 * shared) / size;
}

/** Below this two names have nothing to do with each other. */
const ALIKE = 0.3;

/** The names most like the given one, the nearest first. In time by the length of the names. */
export function nearest(name: string, names: readonly string[], most: number): string[] {
  const wanted = pairsOf(name);
  return names
    .map((one) => ({ one, like: likeness(wanted, pairsOf(one)) }))
    .filter(({ like }) => like >= ALIKE)
    .sort((a, b) => b.like - a.like)
    .slice(0, most)
    .map(({ one }) => one);
}
