/** A period of days, as the address of the page has it. Days are UTC's, as the platform counts them. */
export interface Period {
  key: string;
  from: string;
  to: string;
}

export const PERIODS = ['7d', '30d', 'mtd', 'last', '12m', 'own'] as const;

const DAY_MS = 86_400_000;
const LONGEST = 366;
const isDay = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value));
const iso = (time: number) => new Date(time).toISOString().slice(0, 10);

/** What the address asks for; what makes no sense in it is seven days. */
export function periodOf(search: Record<string, string | undefined>, now = new Date()): Period {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const to = iso(now.getTime());
  const days = (count: number) => iso(now.getTime() - (count - 1) * DAY_MS);
  const { period: key, from, to: until } = search;
  if (key === '30d') return { key, from: days(30), to };
  if (key === 'mtd') return { key, from: iso(Date.UTC(year, month, 1)), to };
  if (key === 'last') return { key, from: iso(Date.UTC(year, month - 1, 1)), to: iso(Date.UTC(year, month, 0)) };
  if (key === '12m') return { key, from: iso(Date.UTC(year, month - 11, 1)), to };
  if (key === 'own' && isDay(from) && isDay(until) && from <= until) {
    const first = Date.parse(until) - (LONGEST - 1) * DAY_MS;
    return { key, from: Date.parse(from) < first ? iso(first) : from, to: until };
  }
  return { key: '7d', from: days(7), to };
}

export const lengthOf = ({ from, to }: Period): number => (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;

const label = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** 15 Nov */
export const dayLabel = (date: string): string => label.format(new Date(date));
