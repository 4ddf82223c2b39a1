import { gateway, widgetRetentionJob } from '@troupe/contract';
import type { Accounts } from '@troupe/accounts';
import type { Database, Jobs } from '@troupe/db';
import { AppError, type BackendClient, type Clock } from '@troupe/kernel';
import { asAppError } from '../../platform/reach.ts';
import * as visitors from './visitors-store.ts';

export interface RetentionDeps {
  db: Database;
  jobs: Jobs;
  backend: BackendClient;
  accounts: Pick<Accounts, 'users' | 'toUser'>;
  clock: Clock;
}

const DAY_MS = 86_400_000;
const LOOK_AGAIN_S = 3600;
const AT_A_TIME = 100;
/** Of a widget, however long it keeps them: a day brings 5,000 new ones at most. */
const KEPT = 10_000;
const ASK_MS = 20_000;

/** A job for each widget, which sends itself again until the widget is gone. */
export function workOnRetention(deps: RetentionDeps): void {
  const { db, jobs } = deps;
  jobs.work(widgetRetentionJob, async ({ widgetId, userId }) => {
    const tx = db.user(userId);
    const widget = await visitors.widgetToClear(tx, widgetId);
    if (!widget) return;
    const isMore = await clear(deps, userId, widget);
    if (widget.removed_at !== null && !isMore) return visitors.dropWidget(tx, widgetId);
    const key = widget.removed_at === null ? widgetId : `removed:${widgetId}`;
    const startAfter = isMore ? 1 : LOOK_AGAIN_S;
    await jobs.send(tx, widgetRetentionJob, { widgetId, userId }, { owner: userId, key, startAfter });
  });
}

type Widget = NonNullable<Awaited<ReturnType<typeof visitors.widgetToClear>>>;

/** Answers whether there may be more. The conversation goes first: what fails is found again by its visitor. */
async function clear(deps: RetentionDeps, userId: string, widget: Widget): Promise<boolean> {
  const { db, clock } = deps;
  const days = widget.retention_days;
  const since = new Date(clock().getTime() - days * DAY_MS);
  const kept = widget.removed_at === null ? { since, newest: KEPT } : null;
  const over = await visitors.visitorsBefore(db.user(userId), widget.id, kept, AT_A_TIME);
  for (const { id, session_id: sessionId } of over) {
    if (sessionId !== null) await forget(deps, userId, widget.agent_id, sessionId);
    await visitors.dropVisitor(db.user(userId), id);
  }
  return over.length === AT_A_TIME;
}

async function forget(deps: RetentionDeps, userId: string, agentId: string, sessionId: string): Promise<void> {
  const { db, backend, accounts } = deps;
  if (await visitors.dropConversation(db.user(userId), agentId, sessionId)) return;
  const row = await accounts.users.byId(db.system, userId);
  if (!row) throw new AppError(404, 'User not found');
  const client = backend.as({ ...accounts.toUser(row, null), toldAs: `retention:${agentId}` }, '127.0.0.1');
  try {
    await client.call(gateway.conversations.remove, { params: { agentId, id: sessionId }, timeout: ASK_MS });
  } catch (error) {
    // The owner has deleted it before.
    if (asAppError(error).status !== 404) throw error;
  }
}
