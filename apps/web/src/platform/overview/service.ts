import type { web, TypesOf } from '@troupe/contract';
import { formatAmount } from '@troupe/domain';
import type { Database } from '@troupe/db';
import { createFairQueue, iso, isoOrNull, type Clock, type User } from '@troupe/kernel';
import { readDay, readTotals, type Day } from './store.ts';

export interface OverviewDeps {
  db: Database;
  clock: Clock;
  /** Whether database and backend answer. */
  health: () => Promise<{ health: string; checks: Record<string, boolean | undefined> }>;
}

export type OverviewService = ReturnType<typeof createOverview>;

type Brief = TypesOf<typeof web.overview.getBrief>['reply']['brief'];

const DAY_MS = 86_400_000;
/** All that somebody has is counted: each user's one at a time, and all together leave the database to others. */
const READ = { width: 2, perKey: 1, waiting: 500, waitingPerKey: 10 };
const SECTIONS = [
  { id: 'system', title: 'System', color: 'blue' },
  { id: 'tasks', title: 'Tasks', color: 'green' },
  { id: 'focus', title: 'Needs attention', color: 'amber' },
  { id: 'intel', title: 'Usage of the last 24 hours', color: 'violet' },
  { id: 'security', title: 'Security', color: 'red' },
  { id: 'calendar', title: 'Next 24 hours', color: 'teal' },
] as const;

type Items = Record<(typeof SECTIONS)[number]['id'], string[]>;

const dayOf = (date: Date): string => iso(date).slice(0, 10);
const count = (number: bigint | number, one: string, many = `${one}s`): string =>
  `${number} ${Number(number) === 1 ? one : many}`;

function createSystemItems({ health }: OverviewDeps) {
  async function systemItems(): Promise<string[]> {
    const { health: state, checks } = await health();
    const down = Object.entries(checks).flatMap(([name, works]) => (works === false ? [name] : []));
    return [`The platform is ${state}`, ...down.map((name) => `${name} does not answer`)];
  }

  return systemItems;
}

export function createOverview(deps: OverviewDeps) {
  const { db, clock } = deps;
  const started = clock();
  const turns = createFairQueue(READ);

  const systemItems = createSystemItems(deps);

  return {
    async metrics(user: User) {
      const now = clock();
      const today = new Date(`${dayOf(now)}T00:00:00Z`);
      const month = `${dayOf(now).slice(0, 7)}-01`;
      const totals = await turns.run(user.id, () => readTotals(db.user(user.id), today, month));
      const calls = Number(totals.calls);
      return {
        metrics: {
          agents: {
            total: Number(totals.agents),
            running: Number(totals.running),
            stopped: Number(totals.stopped),
            failed: Number(totals.failed),
          },
          messages: { total: Number(totals.messages), today: Number(totals.messages_today) },
          deployments: {
            total: Number(totals.agents),
            failed: Number(totals.failed),
            last: isoOrNull(totals.last_deployment),
          },
          uptime: { seconds: Math.round((now.getTime() - started.getTime()) / 1000), since: iso(started) },
          performance: {
            calls,
            averageMs: calls === 0 ? null : Math.round(Number(totals.latency_ms) / calls),
            successRate: calls === 0 ? null : (calls - Number(totals.failures)) / calls,
          },
          storage: {
            memories: Number(totals.memories),
            memoryBytes: Number(totals.memory_bytes),
            events: Number(totals.events),
          },
        },
        timestamp: iso(now),
        status: 'ok' as const,
        plan: user.plan,
      };
    },

    async brief(user: User | null) {
      const now = clock();
      const day = user
        ? await readDay(db.user(user.id), new Date(now.getTime() - DAY_MS), new Date(now.getTime() + DAY_MS))
        : null;
      const system = await systemItems();
      const items: Items = day
        ? ownItems(system, day)
        : { system, tasks: [], focus: [], intel: [], security: [], calendar: [] };
      const brief: Brief = SECTIONS.map((section) => ({ ...section, items: items[section.id] }));
      return { date: dayOf(now), generatedAt: iso(now), brief };
    },
  };
}

function ownItems(system: string[], day: Day): Items {
  const some = (number: bigint, text: string): string[] => (number > 0n ? [text] : []);
  return {
    system: [
      ...system,
      `${count(day.running, 'agent')} running`,
      ...some(day.failed, `${count(day.failed, 'agent')} failed`),
    ],
    tasks: [
      `${count(day.runs, 'task run')} in the last 24 hours`,
      ...some(day.failed_runs, `${count(day.failed_runs, 'run')} failed`),
    ],
    focus: day.unread,
    intel: [
      `${count(day.calls, 'model call')}, ${count(day.tokens, 'token')}, ${formatAmount(day.cost_micros, 6)} USD`,
    ],
    security: [
      count(day.sign_ins, 'sign-in'),
      ...some(day.devices, `${count(day.devices, 'device')} waiting for approval`),
    ],
    calendar: day.next.map(({ name, at }) => `${name} at ${at}`),
  };
}
