import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { checkUpgrade } from '@troupe/db';
import { newId } from '@troupe/kernel';
import { OLD_MIX, startLoad, type Load, type Tally, type Writer } from '../rounds/load.ts';
import { startWorld, type World } from '../rounds/world.ts';
import { follow, type Follower } from './follower.ts';
import type { Releases } from './releases.ts';

/** Three webs and three backends of one release are exchanged for those of another, one by one, under load. */

export interface Exchanged {
  who: string;
  /** Until the other one listened. */
  seconds: number;
  /** What nginx asked somebody else for after the first had refused. */
  retried: number;
  /** Streams that were cut and taken up again. */
  resumed: number;
}

export interface Rolled extends Tally {
  from: string;
  to: string;
  exchanged: Exchanged[];
  /** What `npm run upgrade:check` says against it. */
  obstacles: string[];
  /** Tasks that fell due and ran. */
  ran: number;
  /** What was said instead of an answer, with how often. */
  refused: string[];
  /** What was lost or doubled; and too few answers. */
  wrong: string[];
}

const PEOPLE = 12;
/** Long enough for answers to be under way whenever somebody is stopped. */
const MODEL_MS = 300;
/** A machine that is full starts nobody, and is full for as long as that takes. */
const PAUSE_MS = 200;
const BETWEEN_MS = 2_000;
/** A task falls due each minute, and is looked for every half: by then each has run, however busy the machine is. */
const DUE_MS = 120_000;

export async function roll(
  { from, to, sharedFolder, answered }: Releases,
  say: (line: string) => void,
): Promise<Rolled> {
  const world = await startWorld({ start: from.start, modelMs: MODEL_MS, sharedFolder });
  try {
    say(`three webs and three backends run ${from.name}`);
    const { obstacles } = await checkUpgrade(world.databaseUrl);
    const load = await startLoad(world, PEOPLE, PAUSE_MS, OLD_MIX);
    const followers = await Promise.all(load.people.map((who) => follow(world, who)));
    const tasks = await Promise.all(load.people.map(addDue));
    const began = Date.now();
    const exchanged: Exchanged[] = [];
    for (const member of [...world.backends, ...world.webs]) {
      await delay(BETWEEN_MS);
      exchanged.push(await exchange(world, member, to.start, followers));
      say(lineOf(exchanged.at(-1)!));
    }
    await delay(BETWEEN_MS);
    // what is left to come is a task that falls due
    load.slow();
    while ((await neverRan(world, tasks)) > 0 && Date.now() < began + DUE_MS) await delay(500);
    const { tally, wrong } = await end(load, followers);
    const due = await lookForRuns(world, load.people, tasks);
    const refused = refusals(tally);
    if (tally.answered < tally.asked) for (const line of await failedIn(world)) say(line);
    if (tally.answered < tally.asked * answered) wrong.push(...refused);
    const all = [...obstacles, ...wrong, ...due.wrong];
    return { ...tally, from: from.name, to: to.name, exchanged, obstacles, ran: due.ran, refused, wrong: all };
  } finally {
    await world.stop();
  }
}

async function exchange(
  { proxyLog }: World,
  member: World['webs'][number],
  start: Releases['to']['start'],
  followers: readonly Follower[],
): Promise<Exchanged> {
  const [retried, resumed] = [await retriedIn(proxyLog), resumedBy(followers)];
  const began = performance.now();
  await member.exchange(start);
  const seconds = (performance.now() - began) / 1000;
  // whoever was cut comes back within the second
  await delay(1_000);
  return {
    who: member.name,
    seconds,
    retried: (await retriedIn(proxyLog)) - retried,
    resumed: resumedBy(followers) - resumed,
  };
}

export const lineOf = ({ who, seconds, retried, resumed }: Exchanged): string =>
  `| ${who} | ${seconds.toFixed(1)} | ${retried} | ${resumed} |`;

const resumedBy = (followers: readonly Follower[]): number =>
  followers.reduce((sum, follower) => sum + follower.resumed(), 0);

/** Lines with more than one who was asked. */
const retriedIn = async (log: string): Promise<number> =>
  (await readFile(log, 'utf8')).split('\n').filter((line) => /" \S+, \S+/.test(line)).length;

/** What nginx has to say of requests that failed: between whom, and how. */
async function failedIn({ proxyLog, proxyErrors }: World): Promise<string[]> {
  const [asked, errors] = await Promise.all([proxyLog, proxyErrors].map((file) => readFile(file, 'utf8')));
  return [
    ...asked!.split('\n').filter((line) => line.startsWith('5')),
    // a connection that is refused is asked for of somebody else
    ...errors!.split('\n').filter((line) => /prematurely closed|reset by peer/.test(line)),
  ].slice(0, 20);
}

async function end(load: Load, followers: readonly Follower[]): Promise<{ tally: Tally; wrong: string[] }> {
  const tally = await load.stop();
  const told = await Promise.all(followers.map((follower) => follower.stop()));
  return { tally, wrong: [...(await load.look()), ...told.flat()] };
}

const refusals = ({ refusals: said }: Tally): string[] =>
  Object.entries(said).map(([what, count]) => `${what}, ${count} times`);

/** A task that is due each minute. */
async function addDue({ agentId, ask }: Writer): Promise<{ id: string; prompt: string }> {
  const prompt = newId();
  const made = await ask('POST', '/api/scheduled-tasks', { name: prompt, prompt, agentId, cronSchedule: '* * * * *' });
  const body = (await made.json()) as { task?: { id: string }; id?: string };
  const id = body.task?.id ?? body.id;
  if (id === undefined) throw new Error(`no task: ${made.status} ${JSON.stringify(body)}`);
  return { id, prompt };
}

/** How many have no receipt yet. */
async function neverRan({ db }: World, tasks: readonly { id: string }[]): Promise<number> {
  const ids = tasks.map(({ id }) => id);
  const ran = await db.system
    .selectFrom('task_runs')
    .select('task_id')
    .where('task_id', 'in', ids)
    .distinct()
    .execute();
  return tasks.length - ran.length;
}

const MINUTE_MS = 60_000;
const END_MS = 20_000;

/** Each minute once, and each was a run that the agent knows of once. */
async function lookForRuns(
  { db }: World,
  people: readonly Writer[],
  tasks: readonly { id: string; prompt: string }[],
): Promise<{ ran: number; wrong: string[] }> {
  const wrong: string[] = [];
  let ran = 0;
  for (const [index, { id, prompt }] of tasks.entries()) {
    const receipts = async () =>
      db.system
        .selectFrom('task_runs')
        .select(['due_at', 'status'])
        .where('task_id', '=', id)
        .orderBy('due_at')
        .execute();
    const until = Date.now() + END_MS;
    while ((await receipts()).some(({ status }) => status === 'running') && Date.now() < until) await delay(100);
    const found = await receipts();
    const events = await db.system
      .selectFrom('agent_events')
      .select('data')
      .where('agent_id', '=', people[index]!.agentId)
      .where('type', '=', 'user')
      .execute();
    const heard = events.filter(({ data }) => JSON.stringify(data).includes(prompt)).length;
    const missed = found.some(
      ({ due_at: at }, n) => n > 0 && at.getTime() - found[n - 1]!.due_at.getTime() > MINUTE_MS,
    );
    ran += found.length;
    if (found.length === 0) wrong.push(`task ${id} never ran`);
    if (missed) wrong.push(`task ${id} left a minute out`);
    if (found.some(({ status }) => status !== 'succeeded')) wrong.push(`task ${id}: ${JSON.stringify(found)}`);
    if (heard !== found.length) wrong.push(`task ${id}: ${found.length} receipts, ${heard} runs`);
  }
  return { ran, wrong };
}
