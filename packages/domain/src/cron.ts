import { Cron } from 'croner';

/** Schedules: five fields, or six with the seconds first, in a time zone. */

export interface Schedule {
  /** Null: it never comes again. */
  next: (after: Date) => Date | null;
  /** How many occurrences lie after `from`, up to and including `to`; counting stops at `most`. */
  countBetween: (from: Date, to: Date, most: number) => number;
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
    countBetween(from, to, most) {
      let count = 0;
      for (let at = cron.nextRun(from); at && at <= to && count < most; at = cron.nextRun(at)) count += 1;
      return count;
    },
  };
}

function read(text: string, timezone: string): Cron | null {
  try {
    return new Cron(text, { timezone, paused: true, mode: '5-or-6-parts' });
  } catch {
    // The library throws for what it cannot read; there is nothing else to learn from it.
    return null;
  }
}
