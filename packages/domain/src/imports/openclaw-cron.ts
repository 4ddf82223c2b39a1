import {
  decoded,
  isObject,
  listOf,
  objectOf,
  short,
  textOf,
  type BundleFile,
  type Carried,
  type Given,
} from './parts.ts';
import { parseJson5 } from './json5.ts';

const JOBS = 'cron/jobs.json';
const MINUTE_MS = 60_000;

/** Jobs of OpenClaw as scheduled tasks: of its configuration, and of the file that it keeps them in. */
export function cronTasks(
  given: unknown,
  files: readonly BundleFile[],
  names: ReadonlyMap<string, string>,
  carried: Carried,
): void {
  const file = files.find(({ path }) => path === JOBS);
  if (file) carried.used.add(JOBS);
  const kept = file ? objectOf(parseJson5(decoded(file), JOBS))['jobs'] : [];
  const config = Array.isArray(given) ? given : listOf(objectOf(given)['jobs']);
  for (const [index, job] of [...config, ...listOf(kept)].entries()) {
    const at = `cron.${short(textOf(objectOf(job)['name']) || textOf(objectOf(job)['id']) || String(index), 60)}`;
    taskOf(objectOf(job), at, names, carried);
  }
}

function taskOf(job: Given, at: string, names: ReadonlyMap<string, string>, { tasks, notCarried }: Carried): void {
  const { payload, agentId, enabled, name } = job;
  const { message, text } = objectOf(payload);
  const prompt = textOf(message) || textOf(text);
  const agent = names.get(textOf(agentId) || 'main') ?? (agentId === undefined ? [...names.values()][0] : undefined);
  const cronSchedule = cronOf(job);
  if (enabled === false) notCarried.push({ at, says: 'it is switched off' });
  else if (prompt === '') notCarried.push({ at, says: 'it says nothing to an agent' });
  else if (agent === undefined) notCarried.push({ at, says: `there is no agent ${short(textOf(agentId), 60)}` });
  else if (cronSchedule === undefined)
    notCarried.push({ at, says: 'only schedules of cron and whole minutes, hours or a day are taken' });
  else {
    const { tz } = objectOf(job['schedule']);
    tasks.push({ agent, name: short(textOf(name) || at, 100), prompt, cronSchedule, timezone: textOf(tz) || 'UTC' });
  }
}

function cronOf({ schedule }: Given): string | undefined {
  if (typeof schedule === 'string') return schedule;
  if (!isObject(schedule)) return undefined;
  const { expr, everyMs } = schedule;
  if (typeof expr === 'string') return expr;
  const minutes = typeof everyMs === 'number' ? everyMs / MINUTE_MS : 0;
  if (minutes >= 1 && minutes < 60 && 60 % minutes === 0) return `*/${minutes} * * * *`;
  const hours = minutes / 60;
  if (hours >= 1 && hours < 24 && 24 % hours === 0) return `0 */${hours} * * *`;
  return hours === 24 ? '0 0 * * *' : undefined;
}
