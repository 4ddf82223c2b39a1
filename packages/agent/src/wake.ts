import type { ModelClient } from '@troupe/ai';
import { AGENT_NOT_FOUND, AGENT_STOPPED, MESSAGE_TOO_LARGE } from '@troupe/contract';
import { type AgentDefinition, memoryScope, readAgentConfig } from '@troupe/domain';
import { AppError, currentTrace, newId, traceparentOf, type Log } from '@troupe/kernel';
import type { Agent, Answer, Input, LiveEvent } from './agent.ts';
import { createPictures } from './loop/attached.ts';
import { createFollow } from './loop/follow.ts';
import { NOTHING_SPENT, type CallRecord, type SessionEvent, type SessionEventBody } from './session/events.ts';
import { RECALLED } from './loop/model-step.ts';
import type { RunRecorder, ToolRecorder } from './ports.ts';
import { capped, resultEvent } from './loop/tool-step.ts';
import { openTrail, readSession, type Settled, type Trail } from './session/session.ts';
import { PAGE_BYTES, type AgentStore, type Delivered, type Session } from './store/store.ts';
import type { Tool } from './tools/tool.ts';
import type { Workspace } from './workspace/workspace.ts';
import { createWorker } from './loop/worker.ts';
import { Interrupted } from './loop/run.ts';

export interface AgentDeps {
  agentId: string;
  /** Whose it is, among others in this process; undefined: nobody else's are here. */
  owner?: string;
  store: AgentStore;
  model: ModelClient;
  tools: (definition: AgentDefinition, signal: AbortSignal) => Promise<readonly Tool[]>;
  workspace?: () => Promise<Workspace>;
  onTool?: ToolRecorder | undefined;
  onRun?: RunRecorder | undefined;
  traced?: boolean | undefined;
  log: Log;
  now?: () => number;
  compactAt?: number;
  leaseMs?: number;
  renewMs?: number;
  /** How often a session that another process works on is looked at. */
  pollMs?: number;
  /** The MCP servers among its tools. */
  mcp?: Agent['mcp'];
  /** Lets go of what the tools hold: MCP servers. */
  onSleep?: () => Promise<void>;
}

/** Of one message, whichever way it comes. */
const MAX_INPUT_BYTES = 256 * 1024;
/** Open todos that a heartbeat names. */
const TODOS_SHOWN = 100;
const COMPACT_AT_TOKENS = 32_000;
const POLL_MS = 300;
const PAGE = 500;
/** Events that are read at once of those before. */
const BACK = 16;
const isSaid = ({ type }: SessionEvent): boolean => type === 'assistant';

/** From the newest answer on: its calls are what may be waited for. Read backwards, since what was before may be large. */
async function sinceSaid(store: AgentStore, { id, lastSeq }: Session): Promise<SessionEvent[]> {
  let events: SessionEvent[] = [];
  for (let to = lastSeq; to > 0 && events.length < PAGE && !events.some(isSaid); to -= BACK) {
    const after = Math.max(0, to - BACK);
    events = [...(await store.events(id, { after, limit: to - after })), ...events];
  }
  return events;
}

/** What the run of a session waits for from outside. */
async function waitsFor(store: AgentStore, session: Session): Promise<{ calls: CallRecord[]; words: string }> {
  const events = await sinceSaid(store, session);
  const said = events.findLast((event) => event.type === 'assistant');
  const calls = readSession(events).pending.filter(({ caller }) => caller);
  return { calls, words: said?.type === 'assistant' ? said.content : '' };
}

async function openCalls(store: AgentStore, sessionId: string): Promise<CallRecord[]> {
  const session = await store.session(sessionId);
  return session?.status === 'waiting' ? (await waitsFor(store, session)).calls : [];
}

export function wakeAgent(deps: AgentDeps): Agent {
  const { agentId, owner = agentId, store, log, now = Date.now, pollMs = POLL_MS } = deps;
  const listeners = new Map<string, Set<(event: LiveEvent) => void>>();

  /** What is being written at this moment: who comes in the middle hears it from the start. */
  const writing = new Map<string, Extract<LiveEvent, { kind: 'delta' }>>();

  const emit = (event: LiveEvent): void => listeners.get(event.sessionId)?.forEach((listener) => listener(event));

  function onEvent(sessionId: string, event: SessionEvent): void {
    if (DECIDING.has(event.type)) writing.delete(sessionId);
    emit({ kind: 'event', sessionId, event });
  }

  function onDelta(sessionId: string, text: string, saw: number, isFresh: boolean): void {
    const before = isFresh ? '' : (writing.get(sessionId)?.text ?? '');
    writing.set(sessionId, { kind: 'delta', sessionId, text: before + text, saw, fresh: true });
    emit({ kind: 'delta', sessionId, text, saw, ...(isFresh && { fresh: true }) });
  }

  const workspace = deps.workspace ?? noFiles;

  const worker = createWorker(
    {
      ...deps,
      picture: createPictures(workspace),
      newId,
      now,
      compactAt: deps.compactAt ?? COMPACT_AT_TOKENS,
      onEvent,
      onDelta,
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
  function begin({ claimed }: Pick<Delivered, 'claimed'>, recovers = false): Promise<void> | undefined {
    if (!claimed) return undefined;
    const work = worker.start(claimed, recovers);
    work.catch((err: unknown) => {
      if (err instanceof Interrupted) return;
      log.error({ err, agentId, sessionId: claimed.session.id }, 'work on a session broke off');
      note('error', 'Work on a session broke off; it is taken up again.', claimed.session.channel);
    });
    return work;
  }

  async function put(input: Input): Promise<Delivered> {
    checkSize(input);
    const events = inputEvents(input);
    const delivered = await store.deliver({
      to: input.to,
      events,
      ...(input.inputId !== undefined && { inputId: input.inputId }),
      claim: { owner: worker.owner, ttlMs: worker.leaseMs },
      recall: { query: input.content, limit: RECALLED },
    });
    if (!delivered) throw new AppError(404, 'Session not found');
    input.onTaken?.({ sessionId: delivered.session.id, seq: delivered.seq });
    if (!delivered.duplicate) {
      emit({
        kind: 'event',
        sessionId: delivered.session.id,
        event: { ...events.at(-1)!, seq: delivered.seq, at: new Date(now()).toISOString() },
      });
    }
    return delivered;
  }

  /** Reads on from where the trail ends. */
  async function answerAfter(sessionId: string, trail: Trail): Promise<Answer | undefined> {
    for (;;) {
      const page = await store.events(sessionId, { after: trail.last(), limit: PAGE, bytes: PAGE_BYTES });
      page.forEach(trail.add);
      const settled = trail.answer();
      if (settled) return answer(sessionId, settled);
      if (page.length === 0) break;
    }
    const session = await store.session(sessionId);
    if (!session) throw new AppError(404, 'Session not found');
    if (session.status !== 'waiting') return undefined;
    const { calls, words } = await waitsFor(store, session);
    if (calls.length > 0) return { sessionId, outcome: 'calls', reply: words, calls, spent: trail.spent() };
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
    return stopped ? new AppError(503, AGENT_STOPPED) : broken;
  }

  /** Waits for the answer to the input, whichever process brings it about. */
  function waitFor({ session, seq }: Delivered, work: Promise<void> | undefined): Promise<Answer> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      let settled = false;
      const trail = openTrail(seq);
      const finish = (settle: () => void): void => {
        settled = true;
        clearTimeout(timer);
        stopWatching();
        settle();
      };
      const fail = async (error: Error): Promise<void> => {
        if (settled) return;
        finish(() => {});
        reject(await whyBroken(error));
      };
      const listener = (live: LiveEvent): void => {
        if (settled || live.kind !== 'event') return;
        trail.add(live.event);
        if (live.event.type === 'approval_requested') void look();
        const found = DECIDING.has(live.event.type) ? trail.answer() : undefined;
        if (found) finish(() => resolve(answer(session.id, found)));
      };
      silent.add(listener);
      const stopWatching = watch(session.id, listener);
      async function look(): Promise<void> {
        if (settled) return;
        try {
          const found = await answerAfter(session.id, trail);
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

  async function claimAndBegin(sessionId: string, recovers = false): Promise<boolean> {
    const claimed = await store.claim(sessionId, { owner: worker.owner, ttlMs: worker.leaseMs });
    void begin({ claimed }, recovers)?.catch(() => undefined);
    return claimed !== undefined;
  }

  const written = (id: string) => writing.get(id);
  const follow = createFollow({ store, watch, definition, owner, writing: written, pollMs: Math.max(pollMs, 500) });
  return {
    id: agentId,
    owner,
    store,
    ...(deps.mcp && { mcp: deps.mcp }),
    workspace,
    definition,
    watch,
    async ask(input, listener) {
      const delivered = await put(input);
      const stop = listener ? watch(delivered.session.id, onlyAbout(delivered.seq, listener)) : undefined;
      const work = begin(delivered);
      work?.catch(() => undefined);
      try {
        return await waitFor(delivered, work);
      } finally {
        stop?.();
      }
    },
    async tell(input) {
      const delivered = await put(input);
      void begin(delivered)?.catch(() => undefined);
      return { sessionId: delivered.session.id, seq: delivered.seq, duplicate: delivered.duplicate };
    },
    follow,
    openCalls: (sessionId) => openCalls(store, sessionId),
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
      const list = open
        .slice(0, TODOS_SHOWN)
        .map(({ id, description }) => `- ${id}: ${description}`)
        .join('\n');
      const content = `This is a heartbeat, nobody is waiting. Open todos:\n${list}\nGo on with what you can, and mark what is done.`;
      return this.ask({ to: { channel: 'heartbeat', key: 'main' }, content, from: 'heartbeat' });
    },
    async resume() {
      let taken = 0;
      for (const sessionId of await store.unfinished()) if (await claimAndBegin(sessionId, true)) taken++;
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

const noFiles = async (): Promise<never> => {
  throw new AppError(409, 'This agent has no files');
};

function checkSize({ content, wishes = {}, history = [], results = [], attachments = [] }: Input): void {
  const given = [...history, ...results].map((message) => message.content);
  const attached = attachments.map(({ text = '' }) => text).join('');
  for (const text of [content, JSON.stringify(wishes), attached, ...given])
    if (Buffer.byteLength(text) > MAX_INPUT_BYTES) throw new AppError(413, MESSAGE_TOO_LARGE);
}

function inputEvents(input: Input): SessionEventBody[] {
  const { content, from, limits, wishes, history = [], attachments = [], results = [] } = input;
  const earlier = history.map((message): SessionEventBody => ({ type: 'imported', ...message }));
  const given = results.map((result) => resultEvent(result, { content: capped(result.content) }, NOTHING_SPENT));
  if (given.length > 0 && content === '') return [...earlier, ...given];
  const trace = currentTrace();
  const said: SessionEventBody = {
    type: 'user',
    content,
    ...(from && { from }),
    ...(limits && { limits }),
    ...(wishes && { wishes }),
    ...(attachments.length > 0 && { attachments }),
    ...(trace && { trace: traceparentOf(trace) }),
  };
  return [...earlier, ...given, said];
}

const WAITING = 'This needs an approval before I can go on.';

/** Only these can settle what an input came to. */
const DECIDING: ReadonlySet<string> = new Set(['assistant', 'run_ended']);

function answer(sessionId: string, { outcome, reply: words, reason, refusal, spent }: Settled): Answer {
  const sentence = outcome === 'cancelled' ? 'The run was cancelled.' : (reason ?? '');
  const reply = outcome === 'done' ? words : [words, sentence].filter(Boolean).join('\n\n');
  return { sessionId, outcome, reply, ...(reason && { reason }), ...(refusal && { refusal }), spent };
}

/** Without the words that were said before the input was seen: they belong to another. */
function onlyAbout(seq: number, listener: (event: LiveEvent) => void): (event: LiveEvent) => void {
  return (live) => {
    const isOthers = live.kind === 'delta' ? live.saw < seq : live.event.type === 'assistant' && live.event.saw < seq;
    if (!isOthers) listener(live);
  };
}
