import { NO_SCHEDULE } from '@troupe/contract';
import { nextTimes } from '../../../schedule.ts';
import { tasks as texts } from '../../../texts/operate.ts';

/** The next times of a schedule, by the same rules that the scheduler follows. */
export function NextRuns({ cron, zone, words }: { cron: string; zone: string; words: string }) {
  if (cron === NO_SCHEDULE) return null;
  const now = new Date();
  const times = nextTimes(cron, zone, now);
  if (!times) return <p className="text-danger">{texts.invalid}</p>;
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: zone });
  return (
    <div className="rounded-xl bg-sunken px-4 py-3 text-[0.92rem]">
      <p>
        {texts.nextRuns}{' '}
        <span className="text-ink-faint">
          ({words}, {zone})
        </span>
      </p>
      <ul className="num mt-1 flex flex-wrap gap-x-5 gap-y-1 text-ink-soft">
        {times.map((time) => (
          <li key={time.getTime()}>{format.format(time)}</li>
        ))}
      </ul>
    </div>
  );
}
