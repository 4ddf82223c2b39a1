import { MOST_WIDGETS, WIDGET_DEFAULTS, widgetRetentionJob } from '@troupe/contract';
import type { TypesOf, web, Widget } from '@troupe/contract';
import type { Database, Jobs } from '@troupe/db';
import { AppError, iso, newId, randomHex, type BackendClient, type Clock, type User } from '@troupe/kernel';
import type { Roster } from '@troupe/roster';
import { answering } from './answering.ts';
import * as store from './store.ts';
import { toldVisitor } from './told.ts';
import * as visitors from './visitors-store.ts';

export interface WidgetsDeps {
  db: Database;
  roster: Roster;
  backend: BackendClient;
  jobs: Jobs;
  clock: Clock;
  /** Where the platform is reached. */
  url: string;
}

export type WidgetsService = ReturnType<typeof createWidgets>;

type Given = TypesOf<typeof web.widgets.create>['body'];
interface Which {
  id: string;
  widgetId: string;
}

const MICROS = 1_000_000;
const MOST_VISITORS_SHOWN = 100;
const notFound = (): AppError => new AppError(404, 'Widget not found');
/** No secret: it stands in the source of pages. Only nobody should guess it. */
const newKey = (): string => `pk_${randomHex(16)}`;

function columnsOf({ handsOver, messagesPerHour, dailyCapUsd, retentionDays, ...same }: Given): store.WidgetChange {
  return {
    ...same,
    ...(handsOver !== undefined && { hands_over: handsOver }),
    ...(messagesPerHour !== undefined && { messages_per_hour: messagesPerHour }),
    ...(dailyCapUsd !== undefined && { daily_cap_micros: BigInt(Math.round(dailyCapUsd * MICROS)) }),
    ...(retentionDays !== undefined && { retention_days: retentionDays }),
  };
}

const shownAt =
  (url: string, spent: ReadonlyMap<string, store.Spent>) =>
  (row: store.WidgetRow): Widget => ({
    id: row.id,
    agentId: row.agent_id,
    publicKey: row.public_key,
    title: row.title,
    greeting: row.greeting,
    colour: row.colour,
    scheme: row.scheme,
    enabled: row.enabled,
    hosted: row.hosted,
    origins: row.origins,
    abilities: row.abilities,
    handsOver: row.hands_over,
    messagesPerHour: row.messages_per_hour,
    dailyCapUsd: Number(row.daily_cap_micros) / MICROS,
    retentionDays: row.retention_days,
    address: `${url}/w/${row.public_key}`,
    embed: `<script src="${url}/widget.js" data-key="${row.public_key}" async></script>`,
    spentTodayUsd: Number(spent.get(row.id)?.used ?? 0n) / MICROS,
    createdAt: iso(row.created_at),
  });

type Shown = (userId: string, rows: readonly store.WidgetRow[]) => Promise<Widget[]>;

function making({ db, roster, jobs, clock }: WidgetsDeps, shown: Shown) {
  return {
    async create(user: User, agentId: string, given: Given) {
      await roster.of(user.id).get(agentId);
      const now = clock();
      const settings = columnsOf({ ...WIDGET_DEFAULTS, origins: [...WIDGET_DEFAULTS.origins], ...given });
      const row = await db.asUser(user.id, async (tx) => {
        if ((await store.countWidgets(tx, agentId)) >= MOST_WIDGETS)
          throw new AppError(409, `An agent has ${MOST_WIDGETS} widgets at most`);
        const made = { id: newId(), user_id: user.id, agent_id: agentId, public_key: newKey(), created_at: now };
        const added = await store.addWidget(tx, { ...settings, ...made } as store.WidgetRow);
        const data = { widgetId: added.id, userId: user.id };
        await jobs.send(tx, widgetRetentionJob, data, { owner: user.id, key: added.id });
        return added;
      });
      return { widget: (await shown(user.id, [row]))[0]! };
    },
  };
}

/** What an owner does with the widgets of an agent. */
export function createWidgets(deps: WidgetsDeps) {
  const { db, roster, jobs, clock, url } = deps;

  const shown: Shown = async (userId, rows) => {
    const spent = await store.spentToday(
      db.user(userId),
      rows.map(({ id }) => id),
      clock(),
    );
    return rows.map(shownAt(url, spent));
  };

  async function changed(userId: string, { id: agentId, widgetId }: Which, change: store.WidgetChange) {
    await roster.of(userId).get(agentId);
    const isChange = Object.keys(change).length > 0;
    const tx = db.user(userId);
    const row = isChange
      ? await store.changeWidget(tx, agentId, widgetId, change)
      : await store.findWidget(tx, agentId, widgetId);
    if (!row) throw notFound();
    return { widget: (await shown(userId, [row]))[0]! };
  }

  return {
    async list(userId: string, agentId: string) {
      await roster.of(userId).get(agentId);
      return { widgets: await shown(userId, await store.listWidgets(db.user(userId), agentId)) };
    },

    update: (userId: string, which: Which, given: Given) => changed(userId, which, columnsOf(given)),

    rotate: (userId: string, which: Which) => changed(userId, which, { public_key: newKey() }),

    async remove(userId: string, { id: agentId, widgetId }: Which) {
      await roster.of(userId).get(agentId);
      await db.asUser(userId, async (tx) => {
        if (!(await store.markRemoved(tx, agentId, widgetId, clock()))) throw notFound();
        const key = `removed:${widgetId}`;
        await jobs.send(tx, widgetRetentionJob, { widgetId, userId }, { owner: userId, key });
      });
      return { success: true as const };
    },

    async visitors(userId: string, agentId: string) {
      await roster.of(userId).get(agentId);
      const rows = await visitors.listVisitors(db.user(userId), agentId, MOST_VISITORS_SHOWN);
      return { visitors: rows.map(toldVisitor) };
    },
    ...making(deps, shown),
    ...answering(deps),
  };
}
