import { NO_SCHEDULE } from '@troupe/contract';
import { isTimeZone, parseSchedule } from '@troupe/domain';
import { scheduleWords } from './texts/operate.ts';

/** Plain-language schedules, and the cron expressions they stand for. */
export type ScheduleKind = 'minutes' | 'hourly' | 'daily' | 'weekdays' | 'weekly' | 'monthly' | 'triggered' | 'custom';

export interface Schedule {
  kind: ScheduleKind;
  every: number;
  minute: number;
  hour: number;
  weekday: number;
  date: number;
  cron: string;
}

const DEFAULT_SCHEDULE: Schedule = {
  kind: 'daily',
  every: 15,
  minute: 0,
  hour: 9,
  weekday: 1,
  date: 1,
  cron: '0 9 * * *',
};

export function toCron({ kind, every, minute, hour, weekday, date, cron }: Schedule): string {
  switch (kind) {
    case 'minutes':
      return every === 1 ? '* * * * *' : `*/${every} * * * *`;
    case 'hourly':
      return `${minute} * * * *`;
    case 'daily':
      return `${minute} ${hour} * * *`;
    case 'weekdays':
      return `${minute} ${hour} * * 1-5`;
    case 'weekly':
      return `${minute} ${hour} * * ${weekday}`;
    case 'monthly':
      return `${minute} ${hour} ${date} * *`;
    case 'triggered':
      return NO_SCHEDULE;
    default:
      return cron.trim();
  }
}

const FORMS: [ScheduleKind, RegExp, Exclude<keyof Schedule, 'kind' | 'cron'>[]][] = [
  ['minutes', /^\*(?:\/(\d+))? \* \* \* \*$/, ['every']],
  ['hourly', /^(\d+) \* \* \* \*$/, ['minute']],
  ['daily', /^(\d+) (\d+) \* \* \*$/, ['minute', 'hour']],
  ['weekdays', /^(\d+) (\d+) \* \* 1-5$/, ['minute', 'hour']],
  ['weekly', /^(\d+) (\d+) \* \* (\d)$/, ['minute', 'hour', 'weekday']],
  ['monthly', /^(\d+) (\d+) (\d+) \* \*$/, ['minute', 'hour', 'date']],
  ['triggered', /^@triggered$/, []],
];

/** The plain schedule of an expression; `custom` when it says more than plain words can. */
export function fromCron(cron: string): Schedule {
  const text = cron.trim().replaceAll(/\s+/g, ' ');
  for (const [kind, form, fields] of FORMS) {
    const match = form.exec(text);
    if (!match) continue;
    const values = Object.fromEntries(fields.map((field, index) => [field, Number(match[index + 1] ?? 1)]));
    return { ...DEFAULT_SCHEDULE, ...values, kind, cron: text };
  }
  return { ...DEFAULT_SCHEDULE, kind: 'custom', cron };
}

const clock = (hour: number, minute: number) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;

/** "every day at 09:00"; the expression itself where plain words do not reach. */
export function describeCron(cron: string): string {
  const { kind, every, minute, hour, weekday, date } = fromCron(cron);
  const words = scheduleWords.describe;
  const at = clock(hour, minute);
  switch (kind) {
    case 'triggered':
      return words.triggered;
    case 'minutes':
      return words.minutes(every);
    case 'hourly':
      return words.hourly(minute);
    case 'daily':
      return words.daily(at);
    case 'weekdays':
      return words.weekdays(at);
    case 'weekly':
      return words.weekly(scheduleWords.days[weekday % 7]!, at);
    case 'monthly':
      return words.monthly(date, at);
    default:
      return describeSpan(cron) ?? cron;
  }
}

// Every so many minutes within hours: the commonest of the forms that the plain helper does not make.
function describeSpan(cron: string): string | undefined {
  const [, every, from, to, days] = /^\*\/(\d+) (\d+)-(\d+) \* \* (\*|1-5)$/.exec(cron.trim()) ?? [];
  if (!every) return undefined;
  return scheduleWords.describe.span(Number(every), clock(Number(from), 0), clock(Number(to), 59), days === '1-5');
}

/** The next times of a schedule, by the same rules that the scheduler follows; undefined: it is none. */
export function nextTimes(cron: string, zone: string, now: Date, most = 4): Date[] | undefined {
  // The platform may know a zone that this browser does not.
  const schedule = isTimeZone(zone) ? parseSchedule(cron, zone, now) : null;
  if (!schedule) return undefined;
  const times: Date[] = [];
  for (let at = schedule.next(now); at && times.length < most; at = schedule.next(at)) times.push(at);
  return times;
}

/** How often a schedule comes in so many days; undefined: it is none. */
export function runsIn(cron: string, zone: string, now: Date, days: number): number | undefined {
  const schedule = isTimeZone(zone) ? parseSchedule(cron, zone, now) : null;
  return schedule?.countBetween(now, new Date(now.getTime() + days * 86_400_000));
}
