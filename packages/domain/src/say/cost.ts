/** What a run is likely to cost, and what that is in a month. USD. */

export interface CostBasis {
  /** What the model costs, for a million tokens. */
  model: { inputCost: number; outputCost: number };
  /** Pages that are read each time. */
  pages: number;
  /** How often in 30 days. */
  runs: number;
  /** What the same model's tasks cost a run of late, where there were enough of them. */
  past?: { runs: number; low: number; high: number } | undefined;
}

export interface PredictedCost {
  low: number;
  high: number;
  runs: number;
  monthLow: number;
  monthHigh: number;
  /** Runs of the past that it is read from; 0: it is worked out from the model's price. */
  from: number;
}

const MILLION = 1_000_000;
/** Tokens: what stands before the first page, what a page brings, and what is written a step. */
const SHORT = { start: 1000, page: 2000, written: 150 };
const LONG = { start: 2000, page: 8000, written: 600 };
/** Fewer runs say too little. */
export const ENOUGH_RUNS = 3;

/** Each step is sent all that came before it. */
function oneRun({ model, pages }: CostBasis, { start, page, written }: typeof SHORT): number {
  const steps = pages + 1;
  const input = steps * start + (page * pages * steps) / 2;
  return (input * model.inputCost + steps * written * model.outputCost) / MILLION;
}

export function predictCost(basis: CostBasis): PredictedCost {
  const { past, runs } = basis;
  const isKnown = past !== undefined && past.runs >= ENOUGH_RUNS;
  const low = isKnown ? past.low : oneRun(basis, SHORT);
  const high = isKnown ? past.high : oneRun(basis, LONG);
  return { low, high, runs, monthLow: low * runs, monthHigh: high * runs, from: isKnown ? past.runs : 0 };
}

/** A cap that leaves room for a bad month, in whole dollars. */
export const proposedCap = (monthHigh: number): number => Math.min(1_000_000, Math.max(1, Math.ceil(monthHigh * 3)));
