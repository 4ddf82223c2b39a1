/** Chance that comes out the same for the same seed. */
export interface Chance {
  /** From 0 up to, not including, `below`. */
  whole: (below: number) => number;
  /** True so often of a hundred times. */
  percent: (often: number) => boolean;
  pick: <T>(from: readonly T[]) => T;
}

/** Mulberry32: each request has a stream of its own, so that one can be made again without those before it. */
export function chance(seed: number, stream: number): Chance {
  let state = Math.imul(seed ^ Math.imul(stream + 1, 0x9e3779b1), 0x85ebca6b) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (below: number): number => Math.floor(next() * below);
  return {
    whole,
    percent: (often) => whole(100) < often,
    pick: (from) => from[whole(from.length)]!,
  };
}
