import { randomBytes } from 'node:crypto';
import { MOST_DELIVERED, type TaskTrigger, type TypesOf, type web } from '@troupe/contract';
import { ownPlan, PLAN_LIMITS } from '@troupe/domain';
import type { Database, UserTx } from '@troupe/db';
import {
  AppError,
  countedAddress,
  createFairQueue,
  iso,
  isoOrNull,
  newId,
  type Cipher,
  type Clock,
  type Counters,
  type RequestInfo,
  type User,
} from '@troupe/kernel';
import { headerOf, isFrom, SECRET_PREFIX } from './signature.ts';
import * as store from './store.ts';

export interface TriggersDeps {
  db: Database;
  clock: Clock;
  counters: Counters;
  cipher: Cipher;
  /** Where the platform is reached. */
  url: string;
}

export type TriggersService = ReturnType<typeof createTriggers>;

type Given = TypesOf<typeof web.triggers.create>['body'];
type Start = TypesOf<typeof web.triggers.start>['body'];
interface Which {
  id: string;
  triggerId: string;
}

const MOST_OF_TASK = 10;
/** For each task that the plan has. */
const PER_TASK_OF_PLAN = 2;
const SECRET_BYTES = 32;
const BOTH_COUNT_MS = 86_400_000;
const DELIVERIES_A_MINUTE = 120;
/**
 * Deliveries in this process, in turn by sender and trigger. Whoever sends more than may wait is told to come again before
 * anything is asked of the database, of whose connections one sender has one.
 */
const DELIVERED = { width: 16, perKey: 1, waiting: 100, waitingPerKey: 20 };
const MOST_ID = 200;
const RETRY_SECONDS = '60';

const newSecret = (): string => SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
const notFound = (): AppError => new AppError(404, 'Trigger not found');
const full = (text: string): AppError => new AppError(429, text, {}, { headers: { 'retry-after': RETRY_SECONDS } });
/** The database takes no NUL. */
const clean = (text: string): string => text.replaceAll('\0', '');

const fieldsOf = (given: Given) => ({
  kind: given.kind,
  pattern: given.kind === 'file' ? given.pattern : null,
  sender: given.kind === 'email' ? (given.sender ?? null) : null,
  after_task: given.kind === 'task' ? given.afterTaskId : null,
  outcome: given.kind === 'task' ? given.outcome : null,
});

function answered(taskId: string, { state, receipt }: store.TakenIn) {
  if (state === 'full') throw full('Too many runs of this task wait or ran within the hour');
  if (state === 'off') throw new AppError(409, 'The task is switched off');
  if (receipt === undefined) throw new AppError(404, 'Task not found');
  return { receiptId: receipt, taskId, duplicate: state === 'known' };
}

/** Looked at before it is written out: sixty levels make a line for each number a hundred times as long. */
function inWords(input: unknown): string | undefined {
  const tooLong = (text: string): boolean => text.length > MOST_DELIVERED;
  const isText = input === undefined || typeof input === 'string';
  const text = isText || tooLong(JSON.stringify(input)) ? input : JSON.stringify(input, null, 2);
  if (text !== undefined && (typeof text !== 'string' || tooLong(text)))
    throw new AppError(400, `input too long (max ${MOST_DELIVERED})`);
  return text;
}

type Delivery = Pick<RequestInfo, 'headers' | 'rawBody' | 'address'>;

/** What others send to a task's address. */
function delivering({ db, clock, counters, cipher }: TriggersDeps) {
  const turns = createFairQueue(DELIVERED);
  return {
    deliver: (id: string, request: Delivery) =>
      // Strangers do not stand in the way of who delivers from elsewhere.
      turns.run(`${id} ${countedAddress(request.address)}`, () => taken(id, request)),

    async start(userId: string, taskId: string, { input, key }: Start) {
      const text = inWords(input);
      const arrived = { taskId, triggerId: null, source: 'api' as const, delivery: key, input: text ?? null };
      return answered(taskId, await db.asUser(userId, (tx) => store.takeIn(tx, arrived)));
    },
  };

  async function taken(id: string, { headers, rawBody }: Delivery) {
    if (Buffer.byteLength(rawBody) > MOST_DELIVERED) throw new AppError(413, 'A delivery may have 64 KB at most');
    const hook = await store.findHook(db.system, id);
    if (!hook) throw notFound();
    const now = clock();
    const old = hook.old_secret_until !== null && hook.old_secret_until > now ? hook.old_secret : null;
    const secrets = [hook.secret, old].flatMap((sealed) => (sealed ? [cipher.open(sealed, hook.id)] : []));
    if (!isFrom(secrets, headers, rawBody, now)) throw new AppError(401, 'Invalid signature');
    const delivery = headerOf(headers, 'webhook-id') ?? headerOf(headers, 'idempotency-key');
    if (delivery !== undefined && (delivery === '' || delivery.length > MOST_ID))
      throw new AppError(400, 'webhook-id must have 1 to 200 characters');
    const { count } = await counters.hit(`hook:${hook.id}`, 60_000);
    if (count > DELIVERIES_A_MINUTE) throw full('Too many deliveries');
    const { task_id: taskId, user_id: userId } = hook;
    const arrived = { taskId, triggerId: hook.id, source: 'webhook' as const, delivery, input: clean(rawBody) };
    const found = await db.asUser(userId, (tx) => store.takeIn(tx, arrived));
    if (found.state === 'gone') throw notFound();
    return answered(taskId, found);
  }
}

async function refuseBeyond(tx: UserTx, user: User, taskId: string): Promise<void> {
  const most = PER_TASK_OF_PLAN * PLAN_LIMITS[ownPlan(user) ?? 'solo'].tasks;
  if ((await store.countTriggers(tx, user.id)) >= most)
    throw new AppError(429, `Trigger limit reached (${most} on your plan). Delete one first.`);
  if ((await store.listTriggers(tx, taskId)).length >= MOST_OF_TASK)
    throw new AppError(429, `A task has ${MOST_OF_TASK} triggers at most`);
}

const shownAt =
  (url: string) =>
  (row: store.TriggerRow): TaskTrigger => ({
    id: row.id,
    taskId: row.task_id,
    kind: row.kind,
    enabled: row.enabled,
    address: row.kind === 'webhook' ? `${url}/api/hooks/${row.id}` : null,
    pattern: row.pattern,
    sender: row.sender,
    afterTaskId: row.after_task,
    outcome: row.outcome,
    problem: row.problem,
    oldSecretUntil: isoOrNull(row.old_secret_until),
    lastAt: isoOrNull(row.last_at),
    createdAt: iso(row.created_at),
  });

function making({ db, clock, cipher, url }: TriggersDeps) {
  const shown = shownAt(url);
  return {
    create: (user: User, taskId: string, given: Given) =>
      db.asUser(user.id, async (tx) => {
        const agentId = await store.agentOf(tx, taskId);
        if (agentId === undefined) throw new AppError(404, 'Task not found');
        await refuseBeyond(tx, user, taskId);
        const fields = fieldsOf(given);
        if (fields.after_task !== null) {
          if ((await store.agentOf(tx, fields.after_task)) === undefined) throw new AppError(404, 'Task not found');
          if (await store.leadsTo(tx, taskId, fields.after_task))
            throw new AppError(409, 'That would be a circle: these tasks would start each other without end');
        }
        const id = newId();
        const secret = given.kind === 'webhook' ? newSecret() : null;
        const row = await store.addTrigger(tx, {
          id,
          task_id: taskId,
          user_id: user.id,
          agent_id: agentId,
          ...fields,
          secret: secret === null ? null : cipher.seal(secret, id),
          created_at: clock(),
        });
        return { trigger: shown(row), secret };
      }),
  };
}

function changing({ db, clock, cipher, url }: TriggersDeps) {
  const shown = shownAt(url);
  /** Changes one that is the user's. */
  const change = <T>(
    userId: string,
    { id, triggerId }: Which,
    work: (tx: UserTx, row: store.TriggerRow) => Promise<T>,
  ) =>
    db.asUser(userId, async (tx) => {
      const row = await store.findTrigger(tx, id, triggerId);
      if (!row) throw notFound();
      return work(tx, row);
    });

  return {
    update: (userId: string, which: Which, enabled: boolean) =>
      change(userId, which, async (tx, row) => {
        // A file trigger begins anew: what came while it was off is not told of afterwards.
        const isAnew = enabled && !row.enabled && row.kind === 'file';
        const anew = isAnew ? { seen: null, seen_at: null, created_at: clock() } : {};
        return { trigger: shown(await store.changeTrigger(tx, row.id, { enabled, ...anew })) };
      }),

    async remove(userId: string, { id, triggerId }: Which) {
      if (!(await store.removeTrigger(db.user(userId), id, triggerId))) throw notFound();
      return { success: true as const };
    },

    rotate: (userId: string, which: Which, keepOld = false) =>
      change(userId, which, async (tx, row) => {
        if (row.secret === null) throw new AppError(400, 'Only a webhook has a secret');
        const secret = newSecret();
        const changed = await store.changeTrigger(tx, row.id, {
          secret: cipher.seal(secret, row.id),
          old_secret: keepOld ? row.secret : null,
          old_secret_until: keepOld ? new Date(clock().getTime() + BOTH_COUNT_MS) : null,
        });
        return { trigger: shown(changed), secret };
      }),
  };
}

export function createTriggers(deps: TriggersDeps) {
  const { db, url } = deps;
  return {
    list: (userId: string, taskId: string) =>
      db.asUser(userId, async (tx) => {
        if ((await store.agentOf(tx, taskId)) === undefined) throw new AppError(404, 'Task not found');
        return { triggers: (await store.listTriggers(tx, taskId)).map(shownAt(url)) };
      }),
    ...making(deps),
    ...changing(deps),
    ...delivering(deps),
  };
}
