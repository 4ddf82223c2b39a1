/** What a month will have cost by its end. */
export interface Forecast {
  /** Of this month, up to now. */
  soFarUsd: number;
  /** Null: too few days to go by. */
  endUsd: number | null;
  lowUsd: number | null;
  highUsd: number | null;
  /** The mean of the full days that it goes by. */
  perDayUsd: number | null;
  /** How many full days those are, at most 28. */
  basisDays: number;
  /** Days of the month after today. */
  daysLeft: number;
}

export interface CostOfDay {
  date: string;
  costUsd: number;
}

const DAY_MS = 86_400_000;
/** Four weeks: as many Mondays as Sundays. */
export const BASIS_DAYS = 28;
const FEWEST = 3;
/** Eight of ten outcomes, where days vary as they did. */
const EIGHT_OF_TEN = 1.28;

/**
 * The month so far, today as a mean day unless it cost more already, and a mean day for each that is left. A day is as dear
 * as the mean of the full days before today, four weeks of them, or since the first on which anything was used.
 * @param days one after the other, the last of them today
 */
export function forecastOf(days: readonly CostOfDay[], now: Date): Forecast {
  const today = now.toISOString().slice(0, 10);
  const month = today.slice(0, 7);
  const soFarUsd = sum(days.filter(({ date }) => date.startsWith(month)));
  const last = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 0);
  const daysLeft = Math.round((last - Date.parse(today)) / DAY_MS);
  const before = days.filter(({ date }) => date < today).slice(-BASIS_DAYS);
  const first = before.findIndex(({ costUsd }) => costUsd > 0);
  const basis = first < 0 ? [] : before.slice(first);
  const about = { soFarUsd, basisDays: basis.length, daysLeft };
  if (basis.length < FEWEST) return { ...about, endUsd: null, lowUsd: null, highUsd: null, perDayUsd: null };

  const mean = sum(basis) / basis.length;
  const spentToday = days.find(({ date }) => date === today)?.costUsd ?? 0;
  const endUsd = soFarUsd + Math.max(0, mean - spentToday) + mean * daysLeft;
  const variance = basis.reduce((all, { costUsd }) => all + (costUsd - mean) ** 2, 0) / (basis.length - 1);
  const spread = EIGHT_OF_TEN * Math.sqrt(variance * (daysLeft + 1));
  return { ...about, endUsd, lowUsd: Math.max(soFarUsd, endUsd - spread), highUsd: endUsd + spread, perDayUsd: mean };
}

const sum = (days: readonly CostOfDay[]): number => days.reduce((all, { costUsd }) => all + costUsd, 0);
