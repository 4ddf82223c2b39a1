/** Money, time and numbers for people. One locale for now; texts and formats change together. */
const LOCALE = 'en-GB';

const DUE = 'due now';
/** Instead of what is not there, or is no number or time. */
const NOTHING = '–';

const counts = new Intl.NumberFormat(LOCALE);
const compact = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 });
const dateTime = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short' });
const dateOnly = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium' });
const clock = new Intl.DateTimeFormat(LOCALE, { timeStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto' });

export const count = (value: number) => counts.format(value);
export const short = (value: number) =>
  Math.abs(value) < 10_000 ? counts.format(value) : compact.format(value).replace(/m$/, 'M');

const formats = new Map<string, Intl.NumberFormat>();

/** Made once for each currency and number of digits: a new one takes longer than all else in a row of a table. */
function dollars(amount: number, currency: string, most: number): string {
  const digits = Math.max(2, most);
  const name = `${currency} ${digits}`;
  const format =
    formats.get(name) ??
    new Intl.NumberFormat(LOCALE, {
      style: 'currency',
      currency,
      currencyDisplay: 'narrowSymbol',
      minimumFractionDigits: 2,
      maximumFractionDigits: digits,
    });
  formats.set(name, format);
  return format.format(amount);
}

/** For reading: $1,204.00, $0.79, and for small sums the two digits that say something: $0.0042. */
export function money(value: number | string, currency = 'USD'): string {
  const amount = Number(value);
  if (!Number.isFinite(amount)) return NOTHING;
  const size = Math.abs(amount);
  const most = size === 0 || size >= 0.095 ? 2 : Math.min(6, 1 - Math.floor(Math.log10(size)));
  return dollars(amount, currency, most);
}

/** To the last digit: for ledgers, prices and limits. */
export const exactMoney = (value: number | string, currency = 'USD') =>
  Number.isFinite(Number(value)) ? dollars(Number(value), currency, 6) : String(value);

export const percent = (value: number) =>
  Number.isFinite(value) ? `${counts.format(Math.round(value * 10) / 10)} %` : NOTHING;

type Moment = string | number | Date;
const isTime = (value: Moment | null | undefined): value is Moment =>
  value !== null && value !== undefined && !Number.isNaN(new Date(value).getTime());

export const moment = (value: Moment | null | undefined) =>
  isTime(value) ? dateTime.format(new Date(value)) : NOTHING;
export const day = (value: Moment | null | undefined) => (isTime(value) ? dateOnly.format(new Date(value)) : NOTHING);
/** "Nov 15" of the contract, in the order in which dates stand everywhere else. */
export const dayOf = (label: string) => label.replace(/^([A-Z][a-z]{2}) (\d{1,2})$/, '$2 $1');
const hour = new Intl.DateTimeFormat(LOCALE, { timeStyle: 'short' });
/** 18:57 */
export const hourOf = (value: Moment) => (isTime(value) ? hour.format(new Date(value)) : NOTHING);
export const time = (value: Moment | null | undefined) => (isTime(value) ? clock.format(new Date(value)) : NOTHING);

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** "3 minutes ago", "in 2 hours"; a date beyond thirty days. */
export function ago(value: Moment | null | undefined, now = Date.now()): string {
  if (!isTime(value)) return NOTHING;
  const difference = new Date(value).getTime() - now;
  if (Math.abs(difference) > 30 * 86_400_000) return dateOnly.format(new Date(value));
  for (const [unit, size] of STEPS) {
    if (Math.abs(difference) >= size) return relative.format(Math.round(difference / size), unit);
  }
  return relative.format(Math.round(difference / 1000), 'second');
}

/** When something comes: "in 2 hours", and "due now" from its moment on. */
export const coming = (value: Moment | null | undefined, now = Date.now()): string =>
  isTime(value) && new Date(value).getTime() <= now + 1000 ? DUE : ago(value, now);

/** 850 ms, 4.2 s, 3 min 20 s, 5 h 12 min, 3 d 4 h. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return NOTHING;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 59.95) return `${Math.round(seconds * 10) / 10} s`;
  const whole = Math.round(seconds);
  const parts: [number, string][] = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ];
  const first = parts.findIndex(([value]) => value > 0);
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(' ');
}

export function bytes(value: number): string {
  if (!Number.isFinite(value)) return NOTHING;
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const step = value >= 1 ? Math.min(units.length - 1, Math.floor(Math.log10(value) / 3)) : 0;
  return `${counts.format(Math.round((value / 1000 ** step) * 10) / 10)} ${units[step]}`;
}

/** Plans are names: Solo, Collective, Label, Network. */
export const planName = (plan: string) => plan.charAt(0).toUpperCase() + plan.slice(1);

/** 0x1234…abcd */
export const address = (value: string) => (value.length > 12 ? `${value.slice(0, 6)}…${value.slice(-4)}` : value);

/** Sums inside a sentence of the platform: `3.20 of 4.00 USD` is $3.20 of $4.00. Bounded: it may quote a stranger's digits. */
export const inDollars = (text: string) =>
  text.replaceAll(
    /(?<!\d)(?:(\d{1,15}(?:\.\d{1,9})?) of )?(\d{1,15}(?:\.\d{1,9})?) USD/g,
    (_, part: string | undefined, sum: string) => (part ? `${money(part)} of ${money(sum)}` : money(sum)),
  );

/** Times, sums and large numbers inside a sentence of the platform. */
export const humanise = (text: string) =>
  inDollars(text)
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z/g, (found) => moment(found))
    // Four digits may be a year.
    .replaceAll(/\b\d{5,}\b|\b\d{4}(?= tokens\b)/g, (digits) => count(Number(digits)));
