/** Made-up words, as often as words are in a language: the n-th n times rarer than the first, 60,000 of them. */

const VOCABULARY = 60_000;
const PAGE_WORDS = 300;
const QUESTIONS = 300;
/** The first few find cold caches. */
const WARM = 20;

export function createChance(seed = 42): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

export function createWriter(random: () => number) {
  const word = (): string => {
    let rank = Math.floor(VOCABULARY ** random());
    let text = '';
    for (; rank > 0; rank = Math.floor(rank / 20)) text += 'bcdfghjklmnpqrstvwxz'[rank % 20]! + 'aeiou'[rank % 5]!;
    return text || 'ba';
  };
  const sentence = (): string => `${Array.from({ length: 12 }, word).join(' ')}.`;
  const page = (): string =>
    Array.from({ length: 5 }, () => Array.from({ length: PAGE_WORDS / 60 }, sentence).join(' ')).join('\n\n');
  return { sentence, page };
}

export interface Asked {
  /** By the clock, and of this process's own time, in milliseconds. */
  times: number[];
  own: number[];
  /** Of 100 questions: their text was among the first ten. */
  found: number;
  /** The first question of all. */
  cold: number;
}

export const percentile = (times: readonly number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))]!;

/** Some words of a text, as somebody remembers it. */
export const someOf = (text: string, count: number, random: () => number): string => {
  const words = text.split(/\W+/).filter(Boolean);
  return Array.from({ length: count }, () => words[Math.floor(random() * words.length)]).join(' ');
};

/** Asks 300 questions, one after the other; `next` makes one, with the text that it is about and how it is searched. */
export async function ask(next: (n: number) => { text: string; find: () => Promise<string[]> }): Promise<Asked> {
  const asked: Asked = { times: [], own: [], found: 0, cold: 0 };
  for (let n = 0; n < QUESTIONS + WARM; n += 1) {
    const { text, find } = next(n);
    const before = process.cpuUsage();
    const started = performance.now();
    const hits = await find();
    const took = performance.now() - started;
    const { user, system } = process.cpuUsage(before);
    if (n === 0) asked.cold = took;
    if (n < WARM) continue;
    asked.times.push(took);
    asked.own.push((user + system) / 1000);
    if (hits.includes(text)) asked.found += 100 / QUESTIONS;
  }
  return asked;
}

export const rowOf = (what: string, { times, own, found, cold }: Asked) => ({
  what,
  p50: percentile(times, 0.5),
  p95: percentile(times, 0.95),
  'own p95': percentile(own, 0.95),
  first: cold,
  'found of 100': found,
});

export const figuresOf = (name: string, { times, own, found, cold }: Asked): Record<string, number> => ({
  [`${name}_p50_ms`]: percentile(times, 0.5),
  [`${name}_own_p95_ms`]: percentile(own, 0.95),
  [`${name}_first_ms`]: cold,
  [`${name}_found`]: found,
});
