import type { Database, SystemTx } from '@troupe/db';
import { newId, type Clock, type Log } from '@troupe/kernel';
import { sql } from 'kysely';

export interface AiEvent {
  userId: string;
  /** Empty: called without an agent. */
  agentId: string;
  runId: string | undefined;
  model: string;
  provider: string;
  inputTokens: number;
  outputTokens: number;
  costMicros: number;
  latencyMs: number;
  success: boolean;
  /** The provider did not count the tokens. */
  estimated: boolean;
  /** Made without a reservation: caps that were set meanwhile count it when it is written. */
  unreserved?: boolean;
}

export interface ToolEvent {
  userId: string;
  agentId: string;
  tool: string;
  durationMs: number;
  success: boolean;
}

export interface UsageWriter {
  /** Never waits and never throws: the event is written with others, within half a second. */
  record: (event: AiEvent) => void;
  recordTool: (event: ToolEvent) => void;
  /** Resolves when everything recorded so far is written; rejects when it could not be. */
  flush: () => Promise<void>;
  /** Writes what is left, then stops. */
  close: () => Promise<void>;
}

interface Batch {
  id: string;
  /** `at`: milliseconds since the epoch. */
  calls: (AiEvent & { at: number })[];
  tools: (ToolEvent & { at: number })[];
}

const FLUSH_MS = 500;
const MAX_BATCH = 1_000;
/** While the database does not answer this much is kept; beyond it the oldest batch is given up, and the log says so. */
const MAX_BATCHES = 100;
const CLOSE_TRIES = 3;

export interface WriterOptions {
  db: Database;
  log: Log;
  clock: Clock;
}

export function createWriter({ db, log, clock }: WriterOptions): UsageWriter {
  const waiting: Batch[] = [];
  let timer: NodeJS.Timeout | undefined;
  /** The first batch is on its way: it takes no more events. */
  let writing = false;
  let last = Promise.resolve();
  let closed = false;

  function open(): Batch {
    let batch = waiting.at(-1);
    if (!batch || isFull(batch) || (waiting.length === 1 && writing)) {
      batch = { id: newId(), calls: [], tools: [] };
      waiting.push(batch);
      if (waiting.length > MAX_BATCHES) {
        const [lost] = waiting.splice(writing ? 1 : 0, 1);
        log.error({ events: lost!.calls.length + lost!.tools.length }, 'usage was lost: the database does not answer');
      }
    }
    if (!closed) timer ??= setTimeout(() => void tick(), FLUSH_MS);
    return batch;
  }

  /** Under load a batch goes when it is full: what waits longer costs the collector of garbage more than the call. */
  function sendIfFull(batch: Batch): void {
    if (isFull(batch) && waiting.length === 1 && !writing) void tick();
  }

  async function tick(): Promise<void> {
    try {
      await flush();
    } catch (error) {
      log.warn({ err: error }, 'usage could not be written, trying again');
      if (!closed) timer ??= setTimeout(() => void tick(), FLUSH_MS);
    }
  }

  /** A batch keeps its id until it is known to be written. */
  async function writeAll(): Promise<void> {
    writing = true;
    try {
      for (let left = waiting.length; left > 0 && waiting[0]; left -= 1) {
        await writeBatch(waiting[0]);
        waiting.shift();
      }
    } finally {
      writing = false;
    }
  }

  /** One event that the database will never take must not hold up the others: then each is written by itself. */
  async function writeBatch(batch: Batch): Promise<void> {
    try {
      await write(db, batch, clock());
    } catch (error) {
      if (!isDataError(error)) throw error;
      for (const single of singles(batch)) await writeSingle(single);
    }
  }

  async function writeSingle(single: Batch): Promise<void> {
    try {
      await write(db, single, clock());
    } catch (error) {
      if (!isDataError(error)) throw error;
      log.error({ err: error, event: single.calls[0] ?? single.tools[0] }, 'usage was lost: it cannot be written');
    }
  }

  /** One after the other; each reports its own failure only. */
  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const next = last.catch(() => {}).then(writeAll);
    last = next;
    return next;
  }

  return {
    record(event) {
      const batch = open();
      batch.calls.push({ ...event, at: clock().getTime() });
      sendIfFull(batch);
    },
    recordTool(event) {
      const batch = open();
      batch.tools.push({ ...event, at: clock().getTime() });
      sendIfFull(batch);
    },
    flush,
    async close() {
      closed = true;
      for (let tries = 1; waiting.length > 0; tries += 1) {
        try {
          await flush();
        } catch (error) {
          if (tries >= CLOSE_TRIES) throw error;
        }
      }
    },
  };
}

const isFull = ({ calls, tools }: Batch): boolean => calls.length + tools.length >= MAX_BATCH;

const isDataError = (error: unknown): boolean => (error as { code?: string } | null)?.code?.startsWith('22') ?? false;

/** Its events one by one, under ids that are the same at the next try. */
const singles = ({ id, calls, tools }: Batch): Batch[] => [
  ...calls.map((call, index) => ({ id: `${id}-${index}`, calls: [writable(call)], tools: [] })),
  ...tools.map((tool, index) => ({ id: `${id}-tool-${index}`, calls: [], tools: [writable(tool)] })),
];

/** Without what no text in the database can hold: NUL and halves of characters. */
function writable<T extends object>(event: T): T {
  const clean = (value: unknown): unknown =>
    typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value;
  return Object.fromEntries(Object.entries(event).map(([name, value]) => [name, clean(value)])) as T;
}

async function write(db: Database, { id, calls, tools }: Batch, now: Date): Promise<void> {
  await db.asSystem(async (tx) => {
    const isNew = await tx
      .insertInto('usage_batches')
      .values({ id, created_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .execute();
    if (isNew.length === 0) return;
    if (calls.length > 0) await writeCalls(tx, calls);
    await countLate(tx, calls);
    if (tools.length > 0) await writeTools(tx, tools);
    await tx
      .deleteFrom('usage_batches')
      .where('created_at', '<', new Date(now.getTime() - 3_600_000))
      .execute();
  });
}

/** One JSON parameter: as arrays, column by column, the driver's conversion costs more than the call itself did. */
const rowsOf = (events: readonly object[]) => sql`${JSON.stringify(events)}::jsonb`;

/** Rows of the daily tables are taken in the order of their key, so that two processes cannot wait for each other. */
async function writeCalls(tx: SystemTx, calls: Batch['calls']): Promise<void> {
  await sql`
    with logged as (
      insert into usage_logs (user_id, agent_id, run_id, model, provider, input_tokens, output_tokens, cost_micros,
        latency_ms, success, estimated, created_at)
      select "userId", "agentId", "runId", model, provider, "inputTokens", "outputTokens", "costMicros", "latencyMs",
        success, estimated, to_timestamp(at / 1000)
      from jsonb_to_recordset(${rowsOf(calls)}) as call("userId" text, "agentId" text, "runId" text, model text,
        provider text, "inputTokens" bigint, "outputTokens" bigint, "costMicros" bigint, "latencyMs" integer,
        success boolean, estimated boolean, at double precision)
      returning *
    )
    insert into usage_daily as d (user_id, day, agent_id, model, provider, calls, failures, input_tokens, output_tokens,
      cost_micros, latency_ms)
    select user_id, (created_at at time zone 'UTC')::date, agent_id, model, provider, count(*),
      count(*) filter (where not success), sum(input_tokens), sum(output_tokens), sum(cost_micros), sum(latency_ms)
    from logged group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
    on conflict (user_id, day, agent_id, model, provider) do update set
      calls = d.calls + excluded.calls, failures = d.failures + excluded.failures,
      input_tokens = d.input_tokens + excluded.input_tokens, output_tokens = d.output_tokens + excluded.output_tokens,
      cost_micros = d.cost_micros + excluded.cost_micros, latency_ms = d.latency_ms + excluded.latency_ms`.execute(tx);
}

interface Spent {
  userId: string;
  agentId: string;
  runId: string | undefined;
  /** The day's first millisecond. */
  at: number;
  tokens: number;
  micros: number;
}

const DAY_MS = 86_400_000;

/** Calls are many and those who make them few: they are added up here, not in the database. */
function spentBy(calls: Batch['calls']): Spent[] {
  const sums = new Map<string, Spent>();
  for (const { unreserved, userId, agentId, runId, at, inputTokens, outputTokens, costMicros } of calls) {
    if (!unreserved) continue;
    const day = at - (at % DAY_MS);
    const key = `${day}\n${userId}\n${agentId}\n${runId ?? ''}`;
    let sum = sums.get(key);
    if (!sum) sums.set(key, (sum = { userId, agentId, runId, at: day, tokens: 0, micros: 0 }));
    sum.tokens += inputTokens + outputTokens;
    sum.micros += costMicros;
  }
  return [...sums.values()];
}

/** In the order of the users, so that two processes cannot wait for each other. */
async function countLate(tx: SystemTx, calls: Batch['calls']): Promise<void> {
  const spent = spentBy(calls);
  if (spent.length === 0) return;
  await sql`
    select spend_count(user_id, agent_id, run_id, at, tokens, micros) from (
      select "userId" as user_id, "agentId" as agent_id, "runId" as run_id, to_timestamp(at / 1000) as at, tokens, micros
      from jsonb_to_recordset(${rowsOf(spent)}) as call("userId" text, "agentId" text, "runId" text,
        tokens bigint, micros bigint, at double precision)
      where exists (select from spend_caps c where c.user_id = "userId")
        or exists (select from spend_counters c where c.user_id = "userId")
      order by 1
    ) as spent`.execute(tx);
}

async function writeTools(tx: SystemTx, tools: Batch['tools']): Promise<void> {
  await sql`
    insert into usage_tools_daily as d (user_id, day, agent_id, tool_name, calls, successes, duration_ms)
    select "userId", (to_timestamp(at / 1000) at time zone 'UTC')::date, "agentId", tool, count(*), count(*) filter (where success),
      round(sum("durationMs"))
    from jsonb_to_recordset(${rowsOf(tools)}) as call("userId" text, "agentId" text, tool text,
      "durationMs" double precision, success boolean, at double precision)
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (user_id, day, agent_id, tool_name) do update set
      calls = d.calls + excluded.calls, successes = d.successes + excluded.successes,
      duration_ms = d.duration_ms + excluded.duration_ms`.execute(tx);
}
