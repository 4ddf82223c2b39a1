/** When something is to be done, read from plain words: rules, and no model. English. */

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const HOURS = ['twelve', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven'];
const PARTS: Readonly<Record<string, number>> = {
  morning: 8,
  noon: 12,
  lunchtime: 12,
  afternoon: 15,
  evening: 18,
  night: 22,
  midnight: 0,
};
const EACH = '(?:every|each)';

const CLOCK = new RegExp(`\\bat (\\d{1,2})(?:[:.](\\d{2}))?(?: ?(am|pm|a\\.m\\.|p\\.m\\.|o['’]clock))?(?![\\d.])`, 'i');
const NAMED_CLOCK = new RegExp(`\\bat (${HOURS.join('|')})(?: ?(am|pm|o['’]clock))?\\b`, 'i');
const PART = new RegExp(`\\b(?:(?:${EACH}|in the|at) )?(${Object.keys(PARTS).join('|')})s?\\b`, 'i');
const MINUTES = new RegExp(`\\b${EACH} (\\d{1,2}) minutes?\\b`, 'i');
const SOME_HOURS = new RegExp(`\\b${EACH} (\\d{1,2}) hours?\\b`, 'i');
const HOURLY = new RegExp(`\\b(?:${EACH} hour|hourly)\\b`, 'i');
const WEEKDAYS = new RegExp(`\\b(?:${EACH} (?:weekday|working day|workday)|on weekdays|weekdays)\\b`, 'i');
const ONE_DAY = new RegExp(`\\b(?:(?:${EACH}|on) (${DAYS.join('|')})s?|(${DAYS.join('|')})s)\\b`, 'i');
const WEEKLY = new RegExp(`\\b(?:${EACH} week|weekly|once a week)\\b`, 'i');
const MONTHLY = new RegExp(`\\b(?:${EACH} month|monthly|once a month|on the first of (?:the|${EACH}) month)\\b`, 'i');
const DAILY = new RegExp(`\\b(?:${EACH} day|daily|once a day)\\b`, 'i');

export interface ReadTime {
  /** Null: nothing is said of a time. */
  cron: string | null;
  /** The sentence without what was said of it. */
  rest: string;
}

/** A sentence, from which what was understood is taken away. */
function reading(sentence: string) {
  let rest = sentence;
  return {
    take(form: RegExp): RegExpExecArray | null {
      const found = form.exec(rest);
      if (found) rest = `${rest.slice(0, found.index)} ${rest.slice(found.index + found[0].length)}`;
      return found;
    },
    rest: () => rest,
  };
}

const half = (hour: number, mark: string | undefined): number => {
  const letter = mark?.[0]?.toLowerCase();
  if (letter === 'p') return (hour % 12) + 12;
  return letter === 'a' ? hour % 12 : hour;
};

/** The hour and the minute; undefined: none is said. An hour without a mark after "evening" or "night" is of that part. */
function timeOf({ take }: ReturnType<typeof reading>): { hour: number; minute: number } | undefined {
  const digits = take(CLOCK);
  const word = digits ? null : take(NAMED_CLOCK);
  const part = take(PART)?.[1]?.toLowerCase();
  const late = part !== undefined && PARTS[part]! >= 12 ? 'p' : undefined;
  if (digits) {
    const given = digits[3]?.[0]?.toLowerCase() === 'o' ? undefined : digits[3];
    const hour = Number(digits[1]);
    const at = { hour: half(hour, given ?? (hour < 12 ? late : undefined)), minute: Number(digits[2] ?? 0) };
    return at.hour < 24 && at.minute < 60 ? at : undefined;
  }
  if (word) {
    const given = word[2]?.[0]?.toLowerCase() === 'o' ? undefined : word[2];
    return { hour: half(HOURS.indexOf(word[1]!.toLowerCase()) || 12, given ?? late), minute: 0 };
  }
  return part === undefined ? undefined : { hour: PARTS[part]!, minute: 0 };
}

const MORNING = { hour: 8, minute: 0 };

export function readTime(sentence: string): ReadTime {
  const said = reading(sentence);
  const { take } = said;
  const done = (cron: string | null): ReadTime => ({ cron, rest: said.rest() });
  const minutes = Number(take(MINUTES)?.[1] ?? 0);
  if (minutes > 0 && minutes < 60) return done(minutes === 1 ? '* * * * *' : `*/${minutes} * * * *`);
  const hours = Number(take(SOME_HOURS)?.[1] ?? 0);
  if (hours > 0 && hours < 24) return done(hours === 1 ? '0 * * * *' : `0 */${hours} * * *`);
  if (take(HOURLY)) return done('0 * * * *');
  const weekdays = take(WEEKDAYS);
  const day = weekdays ? null : take(ONE_DAY);
  const often = weekdays || day ? null : [take(MONTHLY), take(WEEKLY), take(DAILY)];
  const at = timeOf(said);
  const { hour, minute } = at ?? MORNING;
  if (weekdays) return done(`${minute} ${hour} * * 1-5`);
  if (day) return done(`${minute} ${hour} * * ${DAYS.indexOf((day[1] ?? day[2])!.toLowerCase())}`);
  const [monthly, weekly, daily] = often!;
  if (monthly) return done(`${minute} ${hour} 1 * *`);
  if (weekly) return done(`${minute} ${hour} * * 1`);
  return done(at || daily ? `${minute} ${hour} * * *` : null);
}
