import type { ModelClient } from '@troupe/ai';
import { type AgentConfig, type AgentDefinition, memoryScope, readAgentConfig } from '@troupe/domain';
import { AppError, newId, type Log } from '@troupe/kernel';
import type { Agent, Answer, Input, Note, LiveEvent, Room } from './agent.ts';
import { KeptAgent, type KeptDeps } from './kept.ts';
import { createPictures } from './loop/attached.ts';
import { createTexts } from './loop/traits.ts';
import { Background, endOf } from './loop/background.ts';
import { Audience, type Listener } from './loop/audience.ts';
import { Following } from './loop/follow.ts';
import { checkSize, inputEvents, onlyAbout } from './loop/input.ts';
import { RECALLED } from './loop/model-step.ts';
import { Interrupted, type Lent, type RunDeps } from './loop/run.ts';
import { openCalls, waitForAnswer, type WaitDeps } from './loop/waiting.ts';
import { leaseOf, Worker } from './loop/worker.ts';
import type { RunRecorder, ToolRecorder } from './ports.ts';
import { NOTHING_SPENT, type CallRecord, type SessionEventBody } from './session/events.ts';
import { polledNews, type SessionNews } from './session/news.ts';
import type { BackgroundTask } from './store/background.ts';
import type { Meant } from './store/recall.ts';
import type { Delivered, Lease } from './store/store.ts';
import type { McpServers } from './tools/mcp-servers.ts';
import type { RunFiles, Tool } from './tools/tool.ts';
import type { Peers } from './tools/transfer-task.ts';

export interface AgentDeps extends KeptDeps {
  model: ModelClient;
  tools: (definition: AgentDefinition, signal: AbortSignal) => Promise<readonly Tool[]>;
  /** The other agents of its team. */
  peers?: Peers | undefined;
  /** How questions about memories become numbers; left out: they are searched by words. */
  meaning?: Meant | undefined;
  /** Left out: the workspace is kept where it is. */
  files?: RunFiles;
  onTool?: ToolRecorder | undefined;
  onRun?: RunRecorder | undefined;
  traced?: boolean | undefined;
  log: Log;
  now?: () => number;
  compactAt?: number;
  leaseMs?: number;
  renewMs?: number;
  /** Tells when a session went on that another process works on; left out, it is looked at again and again. */
  news?: SessionNews;
  /** How often. */
  pollMs?: number;
  /** The MCP servers among its tools. */
  mcp?: Agent['mcp'];
  /** Lets go of what the tools hold: MCP servers. */
  onSleep?: () => Promise<void>;
}

/** Open todos that a heartbeat names. */
const TODOS_SHOWN = 100;
const COMPACT_AT_TOKENS = 32_000;
const POLL_MS = 300;
/** Inputs of this kind are taken once, as are all that have an id. */
const BACKGROUND = 'background';

/** Only agents of this process can be had for a conversation. */
const lender =
  (peers: Peers | undefined): RunDeps['lend'] =>
  async (acting) => {
    const found = await peers?.(acting);
    return found instanceof AwakeAgent ? found.lend() : undefined;
  };

export const wakeAgent = (deps: AgentDeps): Agent => new AwakeAgent(deps);

/** There are thousands at once: what an agent can do is shared, each has only what is its own. */
class AwakeAgent extends KeptAgent implements Agent {
  readonly mcp?: McpServers;
  readonly #audience = new Audience();
  readonly #worker: Worker;
  readonly #background: Background;
  readonly #run: RunDeps;
  readonly #lease: Lease;
  readonly #following: Following;
  readonly #waiting: WaitDeps;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #onSleep: (() => Promise<void>) | undefined;

  constructor(deps: AgentDeps) {
    super(deps);
    const { agentId, store, log, now = Date.now, pollMs = POLL_MS } = deps;
    const audience = this.#audience;
    if (deps.mcp) this.mcp = deps.mcp;
    const compactAt = deps.compactAt ?? COMPACT_AT_TOKENS;
    const lease = leaseOf(deps);
    this.#lease = lease;
    this.#background = new Background({
      owner: this.owner,
      store,
      log,
      lease,
      peers: deps.peers,
      renewMs: lease.renewMs,
      tell: (task) => this.#tellEnd(task),
    });
    const run: RunDeps = {
      ...deps,
      picture: createPictures(this.workspace),
      text: createTexts(this.workspace),
      newId,
      now,
      compactAt,
      audience,
      background: this.#background,
      lend: lender(deps.peers),
    };
    this.#run = run;
    this.#worker = new Worker(run, lease.owner, { leaseMs: lease.ttlMs, renewMs: lease.renewMs });
    const news = deps.news ?? polledNews(store, pollMs);
    this.#following = new Following(this, audience, news);
    this.#waiting = { agentId, store, audience, log, news };
    this.#log = log;
    this.#now = now;
    this.#onSleep = deps.onSleep;
  }

  watch(sessionId: string, listener: Listener): () => void {
    return this.#audience.watch(sessionId, listener);
  }

  async ask(input: Input, listener?: Listener): Promise<Answer> {
    const delivered = await this.#put(input);
    const stop = listener && this.watch(delivered.session.id, onlyAbout(delivered.seq, listener));
    const stopMind = input.onThought && this.#attendTo(delivered, input.onThought);
    const work = this.#begin(delivered);
    work?.catch(() => undefined);
    try {
      return await waitForAnswer(this.#waiting, delivered, work);
    } finally {
      stop?.();
      stopMind?.();
    }
  }

  #attendTo({ session, seq }: Delivered, tell: (text: string) => void): () => void {
    return this.#audience.watchThoughts(session.id, ({ text, saw }) => {
      if (saw >= seq) tell(text);
    });
  }

  async tell(input: Input): Promise<{ sessionId: string; seq: number; duplicate: boolean }> {
    const delivered = await this.#put(input);
    void this.#begin(delivered)?.catch(() => undefined);
    return { sessionId: delivered.session.id, seq: delivered.seq, duplicate: delivered.duplicate };
  }

  async note({ to, role, content, by, inputId }: Note): Promise<{ sessionId: string; seq: number }> {
    checkSize({ to, content });
    const said = { type: 'imported' as const, role, content, ...(by !== undefined && { by }) };
    const delivered = await this.store.deliver({ to, events: [said], ...(inputId !== undefined && { inputId }) });
    if (!delivered) throw new AppError(404, 'Session not found');
    this.#announce(delivered, said);
    return { sessionId: delivered.session.id, seq: delivered.seq };
  }

  attend(sessionId: string, after: number, signal: AbortSignal): ReturnType<Agent['attend']> {
    return this.#following.follow(sessionId, after, signal, { thoughts: true });
  }

  follow(sessionId: string, after: number, signal: AbortSignal, room?: Room): ReturnType<Agent['follow']> {
    // Nobody thinks aloud for it.
    return this.#following.follow(sessionId, after, signal, { room }) as AsyncGenerator<LiveEvent>;
  }

  openCalls(sessionId: string): Promise<CallRecord[]> {
    return openCalls(this.store, sessionId);
  }

  async cancel(sessionId: string, by: string): Promise<boolean> {
    const session = await this.store.session(sessionId);
    if (!session) throw new AppError(404, 'Session not found');
    // Also what an earlier run of it has left in the background.
    const stopped = await this.#background.stopAll(`It was stopped by ${by}.`, sessionId);
    if (session.status === 'idle') return stopped > 0;
    const delivered = await this.store.deliver({
      to: { id: sessionId },
      events: [{ type: 'cancel_requested', by }],
      claim: this.#lease,
    });
    this.#worker.interrupt(sessionId);
    if (delivered) void this.#begin(delivered)?.catch(() => undefined);
    return true;
  }

  async decide(approvalId: string, approved: boolean, by: string, answer?: string): Promise<void> {
    const decided = await this.store.decide(approvalId, approved, by, answer);
    if (decided === 'unknown') throw new AppError(404, 'Approval not found');
    if (decided === 'decided') throw new AppError(409, 'Approval is already decided');
    await this.#claimAndBegin(decided.sessionId);
  }

  async configure(value: unknown): Promise<AgentConfig> {
    const read = readAgentConfig(value);
    if (!read.ok) throw new AppError(400, read.error);
    const { definition: current } = await this.definition();
    await this.store.saveDefinition({ ...current, config: read.config });
    this.#note('info', 'Configuration taken over.', 'gateway');
    return read.config;
  }

  async heartbeat(): Promise<Answer | undefined> {
    await this.resume();
    const { definition: current } = await this.definition();
    const todos = current.tools.includes('todo') ? await this.store.todos(memoryScope(current)) : [];
    const open = todos.filter(({ status }) => status !== 'completed');
    const found = open.length === 0 ? 'Heartbeat: nothing to do.' : `Heartbeat: ${open.length} open todos.`;
    this.#note('info', found, 'heartbeat');
    if (open.length === 0) return undefined;
    const list = open
      .slice(0, TODOS_SHOWN)
      .map(({ id, description }) => `- ${id}: ${description}`)
      .join('\n');
    const content = `This is a heartbeat, nobody is waiting. Open todos:\n${list}\nGo on with what you can, and mark what is done.`;
    return this.ask({ to: { channel: 'heartbeat', key: 'main' }, content, from: 'heartbeat' });
  }

  async resume(): Promise<number> {
    let taken = 0;
    for (const sessionId of await this.store.unfinished()) if (await this.#claimAndBegin(sessionId, true)) taken++;
    return taken + (await this.#background.resume());
  }

  async stopTask(id: string, by: string): Promise<boolean> {
    await this.task(id);
    return this.#background.stop(id, { tells: true, says: `It was stopped by the ${by}.` });
  }

  stopTasks(by: string): Promise<number> {
    return this.#background.stopAll(`It was stopped by ${by}.`);
  }

  override busy(): number {
    return this.#worker.busy();
  }

  /** What it answers with in a conversation that was handed to it. */
  async lend(): Promise<Lent> {
    const { definition } = await this.definition();
    return { definition, deps: this.#run };
  }

  busyInBackground(): number {
    return this.#background.busy();
  }

  idle(): boolean {
    return this.busy() === 0 && this.busyInBackground() === 0 && this.#audience.isEmpty;
  }

  async sleep(): Promise<void> {
    this.#following.check();
    await this.#background.close();
    await this.#worker.stop();
    await this.#onSleep?.();
  }

  #note(level: 'info' | 'warn' | 'error', message: string, source: string): void {
    const line = { level, message, source };
    this.store.log(line).catch((err: unknown) => this.#log.error({ err, agentId: this.id }, 'agent log not written'));
  }

  /** Starts work on what was claimed; answers a promise that rejects when the work breaks off. */
  #begin({ claimed }: Pick<Delivered, 'claimed'>, recovers = false): Promise<unknown> | undefined {
    if (!claimed) return undefined;
    const begun = this.#worker.start(claimed, recovers);
    // What was said after the run was stopped is the next one's, and that must not be stopped with it.
    const work = begun.then((rest) => (rest === 'left' ? this.#claimAndBegin(claimed.session.id) : undefined));
    work.catch((err: unknown) => {
      if (err instanceof Interrupted) return;
      this.#log.error({ err, agentId: this.id, sessionId: claimed.session.id }, 'work on a session broke off');
      this.#note('error', 'Work on a session broke off; it is taken up again.', claimed.session.channel);
    });
    return work;
  }

  async #put(input: Input): Promise<Delivered> {
    checkSize(input);
    const events = inputEvents(input);
    const delivered = await this.store.deliver({
      to: input.to,
      events,
      ...(input.inputId !== undefined && { inputId: input.inputId }),
      claim: this.#lease,
      recall: { query: input.content, limit: RECALLED },
    });
    if (!delivered) throw new AppError(404, 'Session not found');
    const { session, seq } = delivered;
    input.onTaken?.({ sessionId: session.id, seq });
    this.#announce(delivered, events.at(-1)!);
    return delivered;
  }

  #announce({ session, seq, duplicate }: Delivered, event: SessionEventBody): void {
    if (duplicate) return;
    const at = new Date(this.#now()).toISOString();
    this.#audience.told(session.id, { ...event, seq, at });
  }

  /** Into the conversation that it came from, whatever goes on there. The run that it begins has what was left then. */
  async #tellEnd(task: BackgroundTask): Promise<void> {
    const { id, member, status, limits, depth, spent } = task;
    if (status === 'running') return;
    const { tokens, costMicros } = spent ?? NOTHING_SPENT;
    const said = {
      type: 'user' as const,
      content: endOf(task),
      from: member,
      // So that work which begins other work for ever comes to an end.
      limits: { ...limits, maxTurns: Math.max(1, limits.maxTurns - 1) },
      ...(depth > 1 && { depth: depth - 1 }),
      background: { id, member, status, spent: { ...NOTHING_SPENT, tokens, costMicros } },
    };
    const delivered = await this.store.deliver({
      to: { id: task.sessionId },
      events: [said],
      inputId: `${BACKGROUND}:${id}`,
      claim: this.#lease,
    });
    if (!delivered) return;
    this.#announce(delivered, said);
    void this.#begin(delivered)?.catch(() => undefined);
  }

  async #claimAndBegin(sessionId: string, recovers = false): Promise<boolean> {
    const claimed = await this.store.claim(sessionId, this.#lease);
    void this.#begin({ claimed }, recovers)?.catch(() => undefined);
    return claimed !== undefined;
  }
}
