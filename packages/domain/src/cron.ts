import { Cron } from 'croner';

/** Schedules: five fields, or six with the seconds first, in a time zone. */

export interface Schedule {
  /** Null: it never comes again. */
  next: (after: Date) => Date | null;
  /**
   * How many occurrences lie after `from`, up to and including `to`. It takes a few milliseconds at most: many are
   * counted by the wall clock, day by day, so an hour that a change of the clocks skips or repeats counts once.
   */
  countBetween: (from: Date, to: Date) => number;
}

const FIELDS = /^\S+( \S+){4,5}$/;

export function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Null when the expression cannot be read, or names a date that never comes. */
export function parseSchedule(expression: string, timezone: string, now: Date): Schedule | null {
  const text = expression.trim().replace(/\s+/g, ' ');
  if (!FIELDS.test(text)) return null;
  const cron = read(text, timezone);
  if (!cron?.nextRun(now)) return null;
  return {
    next: (after) => cron.nextRun(after),
    countBetween(from, to) {
      let count = 0;
      let last = from;
      for (let at = cron.nextRun(from); at && at <= to; at = cron.nextRun(at)) {
        if (count === MOST_STEPS) return count + countByDays(text, wallClock(last, timezone), wallClock(to, timezone));
        count += 1;
        last = at;
      }
      return count;
    },
  };
}

/** One by one up to here. */
const MOST_STEPS = 100;
/** Whoever was away longer is told how many they were at least. */
const MOST_DAYS = 1000;
const DAY_MS = 86_400_000;

/** What a clock on the wall there shows, as if it were UTC. */
function wallClock(at: Date, timezone: string): number {
  const shown = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at);
  const part = (type: string): number => Number(shown.find((one) => one.type === type)?.value);
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
}

/** After `from`, up to and including `to`, both by the wall clock: the matching days by the library, their times by counting. */
function countByDays(text: string, from: number, to: number): number {
  const fields = text.split(' ');
  const [seconds, minutes, hours, ...days] = fields.length === 6 ? fields : ['0', ...fields];
  const times = { seconds: valuesOf(seconds!, 59), minutes: valuesOf(minutes!, 59), hours: valuesOf(hours!, 23) };
  const calendar = read(`0 0 0 ${days.join(' ')}`, 'UTC');
  if (!calendar || Object.values(times).includes(null)) return 0;
  const { seconds: s, minutes: m, hours: h } = times as Record<keyof typeof times, number[]>;
  const upTo = (values: number[], most: number): number => values.filter((value) => value <= most).length;
  /** Of one day, up to that second of it. */
  const timesUpTo = (second: number): number => {
    if (second < 0) return 0;
    const [hour, minute] = [Math.floor(second / 3600), Math.floor(second / 60) % 60];
    const inHour = h.includes(hour)
      ? upTo(m, minute - 1) * s.length + (m.includes(minute) ? upTo(s, second % 60) : 0)
      : 0;
    return upTo(h, hour - 1) * m.length * s.length + inHour;
  };
  let count = 0;
  const firstDay = Math.floor(from / DAY_MS) * DAY_MS;
  let day = calendar.nextRun(new Date(firstDay - 1000));
  for (let looked = 0; day && day.getTime() <= to && looked < MOST_DAYS; looked += 1) {
    const begin = day.getTime();
    const last = Math.min(to, begin + DAY_MS - 1000);
    const before = begin === firstDay ? timesUpTo((from - begin) / 1000) : 0;
    count += timesUpTo((last - begin) / 1000) - before;
    day = calendar.nextRun(day);
  }
  return count;
}

/** The values of a field of seconds, minutes or hours; null: written in a way that is not read here. */
function valuesOf(field: string, most: number): number[] | null {
  const values = new Set<number>();
  for (const part of field.split(',')) {
    const [, all, from, to, step] = /^(?:(\*)|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(part) ?? [];
    if ((all === undefined && from === undefined) || step === '0') return null;
    // `5/15` means different things to different readers.
    if (step !== undefined && all === undefined && to === undefined) return null;
    const [first, last] = all ? [0, most] : [Number(from), Number(to ?? from)];
    if (first > last || last > most) return null;
    for (let value = first; value <= last; value += Number(step ?? 1)) values.add(value);
  }
  return [...values];
}

function read(text: string, timezone: string): Cron | null {
  try {
    return new Cron(text, { timezone, paused: true, mode: '5-or-6-parts' });
  } catch {
    // The library throws for what it cannot read; there is nothing else to learn from it.
    return null;
  }
}
