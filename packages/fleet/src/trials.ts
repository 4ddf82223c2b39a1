import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import {
  addSpent,
  createPgStore,
  createSqliteStore,
  createToolkit,
  NOTHING_SPENT,
  removeTree,
  wakeAgent,
  type Agent,
  type AgentStore,
  type Answer,
  type SessionEvent,
  type Spent,
  type SqliteStore,
  type Tool,
} from '@troupe/agent';
import { runsInTrial, type AgentDefinition } from '@troupe/domain';
import { createWorkerPool, newId, type WorkerPool } from '@troupe/kernel';
import type { AgentRow } from '@troupe/roster';
import { createWaysOut, type AwakeDeps, type Thinker, type Thinking } from './awake.ts';

/**
 * An agent that is only tried: it thinks on its owner's account, with a definition that it need not have, and has a store,
 * files and todos of its own that are gone afterwards. It reads the agent's memory and writes none of it. What would act
 * outside is not run: such a tool answers what the case says, or that this is a trial.
 */

export interface TrialsDeps extends Omit<AwakeDeps, 'listener' | 'idleMs' | 'leaseMs'> {
  /** Files of a trial that nobody ended are removed after this. */
  leftMs?: number;
}

export interface TrialGiven {
  row: Thinker & Pick<AgentRow, 'team_id'>;
  /** Where it is not the row's that pays. */
  model?: Thinking['model'];
  definition: AgentDefinition;
  input: string;
  stubs: readonly { tool: string; result: string }[];
  maxSeconds: number;
  maxCostMicros: number;
  signal: AbortSignal;
}

export interface TrialCall {
  tool: string;
  args: string;
  isError: boolean;
  /** False: it was answered in its place, or refused. */
  isRun: boolean;
}

export interface Trial {
  outcome: Answer['outcome'];
  /** The agent's words. */
  answer: string;
  /** Why there are none. */
  reason: string | undefined;
  calls: TrialCall[];
  spent: Spent;
}

export type Trials = ReturnType<typeof createTrials>;

const LEFT_MS = 3_600_000;
/** Beyond its own time, for what ends slowly. */
const GRACE_MS = 15_000;
const EVENTS = 5_000;
const INPUT = 'trial';
const TRIED = 'This is a trial: the tool was not run, since it acts outside. Go on as if it could not be reached.';

/** Finds what the agent remembers, and keeps what it learns to itself. */
function trialStore(own: SqliteStore, real: AgentStore): AgentStore {
  return {
    ...own,
    async recall(search) {
      const learnt = await own.recall(search);
      const known = await real.recall(search);
      return [...learnt, ...known].slice(0, search.limit);
    },
  };
}

/** Commands of a trial reach nobody, whatever the owner allows the agent. */
const withoutNetwork = (definition: AgentDefinition): AgentDefinition => ({
  ...definition,
  config: { ...definition.config, safety: { ...definition.config.safety, allowedDomains: [] } },
});

function tried(tool: Tool, stubs: TrialGiven['stubs'], unrun: Set<string>): Tool {
  if (!runsInTrial(tool)) {
    const stub = stubs.find((one) => one.tool === tool.name);
    return {
      ...tool,
      repeatable: true,
      run: async (_, { callId }) => {
        unrun.add(callId);
        return stub ? { content: stub.result } : { content: TRIED, isError: true };
      },
    };
  }
  if (tool.toolset === 'fetch') return tool;
  return {
    ...tool,
    run: (args, context) => tool.run(args, { ...context, definition: withoutNetwork(context.definition) }),
  };
}

function callsOf(events: readonly SessionEvent[], unrun: ReadonlySet<string>): TrialCall[] {
  const failed = new Set(
    events.flatMap((event) => (event.type === 'tool_result' && event.isError ? [event.callId] : [])),
  );
  const refused = new Set(
    events.flatMap((event) => (event.type === 'approval_decided' && !event.approved ? [event.callId] : [])),
  );
  return events
    .flatMap((event) => (event.type === 'assistant' ? event.toolCalls : []))
    .map(({ callId, tool, args }) => ({
      tool,
      args,
      isError: failed.has(callId),
      isRun: !unrun.has(callId) && !refused.has(callId),
    }));
}

type Broken = Pick<Answer, 'outcome' | 'reply' | 'reason'>;
const broken = (reason: string): Broken => ({ outcome: 'failed', reply: '', reason });
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** All of its one conversation. */
async function eventsOf(own: SqliteStore): Promise<SessionEvent[]> {
  const found = await own.deliver({ to: { channel: INPUT, key: INPUT }, events: [] });
  return found ? own.events(found.session.id, { after: 0, limit: EVENTS }) : [];
}

/** Whatever became of it: what was asked of models was paid for. */
const spentIn = (events: readonly SessionEvent[]): Spent =>
  events.reduce((sum, event) => {
    // A summary carries what was spent up to it.
    if (event.type === 'compaction') return event.spent;
    return event.type === 'assistant' || event.type === 'tool_result' ? addSpent(sum, event.spent) : sum;
  }, NOTHING_SPENT);

const inTime = async <T>(work: Promise<T>, ms: number, late: () => T): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<T>((resolve) => (timer = setTimeout(() => resolve(late()), ms)));
  return Promise.race([work, end]).finally(() => clearTimeout(timer));
};

/** Asks, and says no to whatever needs somebody's approval: nobody sits beside a trial. */
async function askAlone(agent: Agent, { input, definition, ...given }: TrialGiven): Promise<Answer> {
  const { maxTurns, maxTokens } = definition.limits;
  const { maxSeconds, maxCostMicros, signal } = given;
  const limits = { maxTurns, maxTokens, maxSeconds, maxCostMicros };
  let sessionId: string | undefined;
  const cancel = (): void => {
    // One that has ended meanwhile needs none.
    if (sessionId !== undefined) void agent.cancel(sessionId, 'owner').catch(() => undefined);
  };
  const time = AbortSignal.any([signal, AbortSignal.timeout(maxSeconds * 1000)]);
  time.addEventListener('abort', cancel, { once: true });
  const ask = () =>
    agent.ask({
      to: { channel: INPUT, key: INPUT },
      content: input,
      inputId: INPUT,
      limits,
      onTaken: (taken) => {
        ({ sessionId } = taken);
        if (time.aborted) cancel();
      },
    });
  try {
    for (;;) {
      const answer = await ask();
      if (answer.outcome !== 'waiting') return answer;
      const waiting = await agent.store.pendingApprovals();
      if (waiting.length === 0) return answer;
      for (const { approvalId } of waiting) await agent.decide(approvalId, false, 'trial');
    }
  } finally {
    time.removeEventListener('abort', cancel);
  }
}

/** Nothing where nothing is; every other error is one. */
const unlessGone = <T>(read: Promise<T>): Promise<T | undefined> =>
  read.catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  });

export function createTrials(deps: TrialsDeps) {
  const { db, dataDir, log, thinking } = deps;
  const pool: WorkerPool = createWorkerPool();
  const waysOut = createWaysOut(deps, pool);
  const root = path.join(dataDir, 'trials');

  /** What processes that died have left. */
  async function sweep(): Promise<void> {
    const before = Date.now() - (deps.leftMs ?? LEFT_MS);
    for (const name of (await unlessGone(readdir(root))) ?? []) {
      const folder = path.join(root, name);
      // Another process may sweep, too.
      const found = await unlessGone(stat(folder));
      if (found && found.mtimeMs < before) await removeTree(folder);
    }
  }

  function wake(given: TrialGiven, folder: string, own: SqliteStore, unrun: Set<string>): Agent {
    const { row, model = thinking(row).model, stubs } = given;
    const { id: agentId, user_id: userId, team_id: teamId } = row;
    const real = createPgStore({ db, userId, agentId, ...(teamId !== null && { teamId }) });
    const store = trialStore(own, real);
    // Members are named to the model; none of them is asked.
    const peers = async (): Promise<undefined> => undefined;
    const toolkit = createToolkit({ store, workspaceRoot: folder, ...waysOut({ userId, agentId }), peers });
    return wakeAgent({
      agentId,
      owner: userId,
      store,
      workspace: toolkit.workspace,
      tools: async (...given) => (await toolkit.tools(...given)).map((tool) => tried(tool, stubs, unrun)),
      model,
      log,
      onSleep: toolkit.close,
    });
  }

  async function run(given: TrialGiven): Promise<Trial> {
    await sweep();
    const folder = path.join(root, newId());
    const own = createSqliteStore({ file: ':memory:', agentId: given.row.id });
    const unrun = new Set<string>();
    const agent = wake(given, folder, own, unrun);
    try {
      await own.saveDefinition(given.definition);
      const asked = askAlone(agent, given).catch((error: unknown) => broken(reasonOf(error)));
      const late = (): Broken => broken(`It did not end within ${given.maxSeconds} seconds.`);
      const { outcome, reply, reason } = await inTime<Broken | Answer>(asked, given.maxSeconds * 1000 + GRACE_MS, late);
      const events = await eventsOf(own);
      return { outcome, answer: reply, reason, calls: callsOf(events, unrun), spent: spentIn(events) };
    } finally {
      await inTime(agent.sleep(), GRACE_MS, () => log.warn({ agentId: agent.id }, 'a trial did not end'));
      own.close();
      await removeTree(folder);
    }
  }

  return { run, close: () => pool.close() };
}
