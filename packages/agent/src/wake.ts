import type { ModelClient } from '@troupe/ai';
import { AGENT_NOT_FOUND } from '@troupe/contract';
import { readAgentConfig } from '@troupe/domain';
import { AppError, newId, type Log } from '@troupe/kernel';
import type { Agent, Answer, Input, LiveEvent } from './agent.ts';
import type { AgentDefinition } from './definition.ts';
import { NOTHING_SPENT, type SessionEvent, type SessionEventBody } from './events.ts';
import { memoryScope, RECALLED } from './model-step.ts';
import type { SpendGate, UsageRecorder } from './ports.ts';
import { endOfRun } from './session.ts';
import type { AgentStore, Delivered } from './store.ts';
import type { Tool } from './tool.ts';
import { createWorker } from './worker.ts';
import { Interrupted } from './run.ts';

export interface AgentDeps {
  agentId: string;
  store: AgentStore;
  model: ModelClient;
  tools: (definition: AgentDefinition) => Promise<readonly Tool[]>;
  spend: SpendGate;
  usage: UsageRecorder;
  log: Log;
  now?: () => number;
  compactAt?: number;
  leaseMs?: number;
  renewMs?: number;
  /** How often a session that another process works on is looked at. */
  pollMs?: number;
  /** Lets go of what the tools hold: MCP servers. */
  onSleep?: () => Promise<void>;
}

const COMPACT_AT_TOKENS = 32_000;
const POLL_MS = 300;
const PAGE = 500;

export function wakeAgent(deps: AgentDeps): Agent {
  const { agentId, store, log, now = Date.now, pollMs = POLL_MS } = deps;
  const listeners = new Map<string, Set<(event: LiveEvent) => void>>();

  const emit = (event: LiveEvent): void => listeners.get(event.sessionId)?.forEach((listener) => listener(event));

  const worker = createWorker(
    {
      ...deps,
      newId,
      now,
      compactAt: deps.compactAt ?? COMPACT_AT_TOKENS,
      onEvent: (sessionId, event) => emit({ kind: 'event', sessionId, event }),
      onDelta: (sessionId, text) => emit({ kind: 'delta', sessionId, text }),
      watched: (sessionId) => [...(listeners.get(sessionId) ?? [])].some((listener) => !silent.has(listener)),
    },
    newId(),
    deps,
  );
  /** Listeners that want no text as it is written. */
  const silent = new WeakSet<(event: LiveEvent) => void>();

  function watch(sessionId: string, listener: (event: LiveEvent) => void): () => void {
    const set = listeners.get(sessionId) ?? new Set();
    listeners.set(sessionId, set.add(listener));
    return () => {
      set.delete(listener);
      if (set.size === 0 && listeners.get(sessionId) === set) listeners.delete(sessionId);
    };
  }

  function note(level: 'info' | 'warn' | 'error', message: string, source: string): void {
    store.log({ level, message, source }).catch((err: unknown) => log.error({ err, agentId }, 'agent log not written'));
  }

  /** Starts work on what was claimed; answers a promise that rejects when the work breaks off. */
  function begin({ claimed }: Pick<Delivered, 'claimed'>): Promise<void> | undefined {
    if (!claimed) return undefined;
    const work = worker.start(claimed);
    work.catch((err: unknown) => {
      if (err instanceof Interrupted) return;
      log.error({ err, agentId, sessionId: claimed.session.id }, 'work on a session broke off');
      note('error', 'Work on a session broke off; it is taken up again.', claimed.session.channel);
    });
    return work;
  }

  async function put(input: Input): Promise<Delivered> {
    const history = (input.history ?? []).map((message): SessionEventBody => ({ type: 'imported', ...message }));
    const { content, from, limits } = input;
    const body: SessionEventBody = { type: 'user', content, ...(from && { from }), ...(limits && { limits }) };
    const delivered = await store.deliver({
      to: input.to,
      events: [...history, body],
      ...(input.inputId !== undefined && { inputId: input.inputId }),
      claim: { owner: worker.owner, ttlMs: worker.leaseMs },
      recall: { query: content, limit: RECALLED },
    });
    if (!delivered) throw new AppError(404, 'Session not found');
    input.onTaken?.({ sessionId: delivered.session.id, seq: delivered.seq });
    if (!delivered.duplicate) {
      emit({
        kind: 'event',
        sessionId: delivered.session.id,
        event: { ...body, seq: delivered.seq, at: new Date(now()).toISOString() },
      });
    }
    return delivered;
  }

  async function answerAfter(sessionId: string, seq: number): Promise<Answer | undefined> {
    const events: SessionEvent[] = [];
    for (let after = seq; ; after = events.at(-1)?.seq ?? after) {
      const page = await store.events(sessionId, { after, limit: PAGE });
      events.push(...page);
      const ended = endOfRun(events, seq);
      if (ended) return answer(sessionId, ended.end, ended.reply);
      if (page.length < PAGE) break;
    }
    const session = await store.session(sessionId);
    if (!session) throw new AppError(404, 'Session not found');
    if (session.status !== 'waiting') return undefined;
    return { sessionId, outcome: 'waiting', reply: WAITING, spent: NOTHING_SPENT };
  }

  /** What broke off was stopped, or its agent is deleted. Where nobody can tell, as in a shutdown, it was stopped. */
  async function whyBroken(broken: Error): Promise<Error> {
    const stopped = broken instanceof Interrupted;
    if (!stopped && !(broken instanceof AppError && broken.status === 404)) return broken;
    const isThere = await store.definition().then(Boolean, (err: unknown) => {
      log.warn({ err, agentId }, 'an agent whose work broke off could not be looked up');
      return true;
    });
    if (!isThere) return new AppError(404, AGENT_NOT_FOUND);
    return stopped ? new AppError(503, 'The agent was stopped; its work goes on when it runs again.') : broken;
  }

  /** Waits for the end of the run, whichever process brings it about. */
  function answerTo({ session, seq }: Delivered, work: Promise<void> | undefined): Promise<Answer> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      let settled = false;
      const since: SessionEvent[] = [];
      const finish = (settle: () => void): void => {
        settled = true;
        clearTimeout(timer);
        stopWatching();
        settle();
      };
      const fail = async (error: Error): Promise<void> => {
        finish(() => {});
        reject(await whyBroken(error));
      };
      const listener = (live: LiveEvent): void => {
        if (live.kind !== 'event' || live.event.seq <= seq) return;
        since.push(live.event);
        if (live.event.type === 'approval_requested') void look();
        const ended = live.event.type === 'run_ended' ? endOfRun(since, seq) : undefined;
        if (ended) finish(() => resolve(answer(session.id, ended.end, ended.reply)));
      };
      silent.add(listener);
      const stopWatching = watch(session.id, listener);
      async function look(): Promise<void> {
        if (settled) return;
        try {
          const found = await answerAfter(session.id, seq);
          if (found) finish(() => resolve(found));
          else if (!settled) timer = setTimeout(() => void look(), pollMs);
        } catch (error) {
          await fail(error as Error);
        }
      }
      // Another process has taken the session over: its answer is ours too.
      const onBreak = (error: Error): unknown =>
        error instanceof Interrupted && error.why === 'lost' ? look() : fail(error);
      if (work) work.then(look, onBreak);
      else void look();
    });
  }

  async function definition() {
    const found = await store.definition();
    if (!found) throw new AppError(404, AGENT_NOT_FOUND);
    return found;
  }

  async function claimAndBegin(sessionId: string): Promise<boolean> {
    const claimed = await store.claim(sessionId, { owner: worker.owner, ttlMs: worker.leaseMs });
    void begin({ claimed })?.catch(() => undefined);
    return claimed !== undefined;
  }

  return {
    id: agentId,
    store,
    definition,
    watch,
    async ask(input, listener) {
      const delivered = await put(input);
      const stop = listener ? watch(delivered.session.id, listener) : undefined;
      const work = begin(delivered);
      work?.catch(() => undefined);
      try {
        return await answerTo(delivered, work);
      } finally {
        stop?.();
      }
    },
    async tell(input) {
      const delivered = await put(input);
      void begin(delivered)?.catch(() => undefined);
      return { sessionId: delivered.session.id, seq: delivered.seq, duplicate: delivered.duplicate };
    },
    follow: (sessionId, after, signal) =>
      followSession({ store, watch, definition, pollMs: Math.max(pollMs, 500) }, sessionId, after, signal),
    async cancel(sessionId, by) {
      const session = await store.session(sessionId);
      if (!session) throw new AppError(404, 'Session not found');
      if (session.status === 'idle') return false;
      const claim = { owner: worker.owner, ttlMs: worker.leaseMs };
      const delivered = await store.deliver({
        to: { id: sessionId },
        events: [{ type: 'cancel_requested', by }],
        claim,
      });
      worker.interrupt(sessionId);
      if (delivered) void begin(delivered)?.catch(() => undefined);
      return true;
    },
    async decide(approvalId, approved, by) {
      const decided = await store.decide(approvalId, approved, by);
      if (decided === 'unknown') throw new AppError(404, 'Approval not found');
      if (decided === 'decided') throw new AppError(409, 'Approval is already decided');
      await claimAndBegin(decided.sessionId);
    },
    async configure(value) {
      const read = readAgentConfig(value);
      if (!read.ok) throw new AppError(400, read.error);
      const { definition: current } = await definition();
      await store.saveDefinition({ ...current, config: read.config });
      note('info', 'Configuration taken over.', 'gateway');
      return read.config;
    },
    async heartbeat() {
      await this.resume();
      const { definition: current } = await definition();
      const todos = current.tools.includes('todo') ? await store.todos(memoryScope(current)) : [];
      const open = todos.filter(({ status }) => status !== 'completed');
      note(
        'info',
        open.length === 0 ? 'Heartbeat: nothing to do.' : `Heartbeat: ${open.length} open todos.`,
        'heartbeat',
      );
      if (open.length === 0) return undefined;
      const list = open.map(({ id, description }) => `- ${id}: ${description}`).join('\n');
      const content = `This is a heartbeat, nobody is waiting. Open todos:\n${list}\nGo on with what you can, and mark what is done.`;
      return this.ask({ to: { channel: 'heartbeat', key: 'main' }, content, from: 'heartbeat' });
    },
    async resume() {
      let taken = 0;
      for (const sessionId of await store.unfinished()) if (await claimAndBegin(sessionId)) taken++;
      return taken;
    },
    busy: worker.busy,
    idle: () => worker.busy() === 0 && listeners.size === 0,
    async sleep() {
      await worker.stop();
      await deps.onSleep?.();
    },
  };
}

const WAITING = 'This needs an approval before I can go on.';

function answer(sessionId: string, end: SessionEvent & { type: 'run_ended' }, words: string): Answer {
  const { outcome, reason, refusal, spent } = end;
  const sentence = outcome === 'cancelled' ? 'The run was cancelled.' : (reason ?? '');
  const reply = outcome === 'done' ? words : [words, sentence].filter(Boolean).join('\n\n');
  return { sessionId, outcome, reply, ...(reason && { reason }), ...(refusal && { refusal }), spent };
}

/** How long somebody may follow an agent that is deleted. */
const LOOK_MS = 5_000;

async function* followSession(
  { store, watch, definition, pollMs }: Pick<Agent, 'store' | 'watch' | 'definition'> & { pollMs: number },
  sessionId: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<LiveEvent> {
  const queue: LiveEvent[] = [];
  let wake: () => void = () => {};
  const stopWatching = watch(sessionId, (event) => {
    queue.push(event);
    wake();
  });
  const onAbort = (): void => wake();
  signal.addEventListener('abort', onAbort);
  let seen = after;
  let looked = Date.now();
  try {
    while (!signal.aborted) {
      const page = await store.events(sessionId, { after: seen, limit: PAGE });
      if (page.length === 0 && Date.now() - looked > LOOK_MS) {
        await definition();
        looked = Date.now();
      }
      for (const event of page) {
        seen = event.seq;
        yield { kind: 'event', sessionId, event };
      }
      if (page.length === PAGE) continue;
      const deadline = Date.now() + pollMs;
      while (!signal.aborted && Date.now() < deadline) {
        const live = queue.shift();
        if (live?.kind === 'delta') yield live;
        else if (live) {
          if (live.event.seq > seen + 1) break;
          if (live.event.seq === seen + 1) {
            seen = live.event.seq;
            yield live;
          }
        } else {
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, Math.max(1, deadline - Date.now()));
            wake = () => {
              clearTimeout(timer);
              resolve();
            };
          });
        }
      }
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    stopWatching();
  }
}
