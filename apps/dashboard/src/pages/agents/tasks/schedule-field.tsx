import { fromCron, toCron } from '../../../schedule.ts';
import type { Schedule, ScheduleKind } from '../../../schedule.ts';
import { scheduleWords as words, tasks } from '../../../texts/operate.ts';
import { SelectField, TextField } from '../../../ui/field.tsx';

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ value: String(from + index), label: String(from + index) }));

/** Plain words beside cron: both say the same, and either can be changed. */
export function ScheduleField({ cron, onChange }: { cron: string; onChange: (cron: string) => void }) {
  const schedule = fromCron(cron);
  const set = (change: Partial<Schedule>) => onChange(toCron({ ...schedule, ...change }));
  const { kind } = schedule;
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        label={words.helper}
        value={kind}
        onChange={({ target }) => {
          const next = target.value as ScheduleKind;
          // A custom expression starts from the one at hand, with a sixth field so that it stays the user's own.
          if (next === 'custom') onChange(kind === 'triggered' ? '0 0 9 * * *' : `0 ${toCron(schedule)}`);
          else set({ kind: next });
        }}
        choices={Object.entries(words.kinds).map(([value, label]) => ({ value, label }))}
      />
      <Every schedule={schedule} set={set} />{' '}
      {kind === 'hourly' && (
        <SelectField
          label={words.minute}
          value={String(schedule.minute)}
          onChange={({ target }) => set({ minute: Number(target.value) })}
          choices={numbers(0, 59)}
        />
      )}
      {kind === 'weekly' && (
        <SelectField
          label={words.day}
          value={String(schedule.weekday % 7)}
          onChange={({ target }) => set({ weekday: Number(target.value) })}
          choices={words.days.map((label, index) => ({ value: String(index), label }))}
        />
      )}
      {kind === 'monthly' && (
        <SelectField
          label={words.date}
          value={String(schedule.date)}
          onChange={({ target }) => set({ date: Number(target.value) })}
          choices={numbers(1, 31)}
        />
      )}
      <At schedule={schedule} set={set} />{' '}
      {kind !== 'triggered' && (
        <TextField
          label={tasks.cron}
          hint={tasks.cronHint}
          mono
          required
          value={cron}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </div>
  );
}

/** So many minutes apart. */
function Every({ schedule, set }: { schedule: Schedule; set: (change: Partial<Schedule>) => void }) {
  return (
    <>
      {schedule.kind === 'minutes' && (
        <SelectField
          label={words.every}
          value={String(schedule.every)}
          onChange={({ target }) => set({ every: Number(target.value) })}
          choices={[...new Set([1, 5, 10, 15, 20, 30, schedule.every])].map((n) => ({
            value: String(n),
            label: String(n),
          }))}
        />
      )}
    </>
  );
}

/** The time of day. */
function At({ schedule, set }: { schedule: Schedule; set: (change: Partial<Schedule>) => void }) {
  return (
    <>
      {['daily', 'weekdays', 'weekly', 'monthly'].includes(schedule.kind) && (
        <TextField
          label={words.at}
          type="time"
          required
          value={`${String(schedule.hour).padStart(2, '0')}:${String(schedule.minute).padStart(2, '0')}`}
          onChange={({ target }) => {
            const [hour, minute] = target.value.split(':').map(Number);
            if (hour !== undefined && minute !== undefined) set({ hour, minute });
          }}
        />
      )}
    </>
  );
}
