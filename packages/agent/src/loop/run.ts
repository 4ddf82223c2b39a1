import type { ModelClient } from '@troupe/ai';
import { readTraceparent, traceOfRun, type Log, type Trace } from '@troupe/kernel';
import type { AgentDefinition, VersionedDefinition } from '@troupe/domain';
import type { Audience } from './audience.ts';
import type { SessionEvent, SessionEventBody, SessionStatus } from '../session/events.ts';
import { logLine } from '../store/log-line.ts';
import type { Meant } from '../store/recall.ts';
import type { RunRecorder, ToolRecorder } from '../ports.ts';
import type { AgentStore, Claimed, Recalled } from '../store/store.ts';
import { readSession } from '../session/session.ts';
import type { BackgroundDesk, RunFiles, Tool } from '../tools/tool.ts';

/** The log of a session in the hands of the one process that holds its lease. */

/** Who answers in a conversation. */
export interface Acting {
  agentId: string;
  name: string;
}

/** What one agent gives to answer in another's conversation. */
export interface Lent {
  definition: AgentDefinition;
  deps: RunDeps;
}

export interface RunDeps {
  agentId: string;
  store: AgentStore;
  model: ModelClient;
  /** The tools that a definition gives, MCP servers' included. */
  tools: (definition: AgentDefinition, signal: AbortSignal) => Promise<readonly Tool[]>;
  /** A picture of the workspace as a model is shown it; undefined: it is gone, or too large. */
  picture: (path: string) => Promise<string | undefined>;
  /** A text of the workspace; undefined: there is none. */
  text: (path: string) => Promise<string | undefined>;
  /** How questions about memories become numbers; left out: they are searched by words. */
  meaning?: Meant | undefined;
  /** Where work goes that is not waited for. */
  background?: BackgroundDesk;
  /** What another agent of the team answers with; undefined: it cannot be had. */
  lend?: ((acting: Acting) => Promise<Lent | undefined>) | undefined;
  /** Left out: the workspace is kept where it is. */
  files?: RunFiles;
  onTool?: ToolRecorder | undefined;
  onRun?: RunRecorder | undefined;
  /** Somebody collects traces: every run has one. Else only a run that was asked for within one. */
  traced?: boolean | undefined;
  log: Log;
  newId: () => string;
  now: () => number;
  /** The size of a prompt, in estimated tokens, from which older parts are summed up. */
  compactAt: number;
  /** Whoever reads along: stored events, and text as it is written. */
  audience: Audience;
}

/** Why work on a session stops without having ended its run. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly why: 'lost' | 'asleep';

  constructor(why: 'lost' | 'asleep') {
    super(why === 'lost' ? 'another process works on this session now' : 'the agent goes to sleep');
    this.why = why;
  }
}

export interface RunLog {
  readonly sessionId: string;
  /** The newest as of the last thing that was stored. */
  readonly definition: AgentDefinition;
  /** What the store found in the memory about this input on the way here; once. */
  takeRecalled: (query: string) => Recalled['memories'] | undefined;
  events: () => readonly SessionEvent[];
  tokensToday: () => number;
  /** Stores events whatever came in meanwhile. */
  commit: (events: readonly SessionEventBody[], options?: { tokens?: number }) => Promise<void>;
  /** Stores events and lets the session go, unless something came in that changes the picture: then nothing is stored. */
  conclude: (
    status: SessionStatus,
    events: readonly SessionEventBody[],
    options?: { tokens?: number },
  ) => Promise<boolean>;
  /** Reads what came in from outside. */
  refresh: () => Promise<void>;
}

const PAGE = 1000;

export const runIdOf = (sessionId: string, seq: number): string => `${sessionId}:${seq}`;

/** Where a run belongs: in the trace of whoever asked for it, or in one of its own. */
export function traceOf({ traced }: RunDeps, runId: string, asked: string | undefined): Trace | undefined {
  return traced || asked !== undefined ? traceOfRun(runId, readTraceparent(asked)) : undefined;
}

/** Tells the platform of a run that ends with what is stored now. */
function tellEnd(
  deps: RunDeps,
  {
    sessionId,
    definition,
    version,
    events,
  }: VersionedDefinition & { sessionId: string; events: readonly SessionEvent[] },
  stored: readonly SessionEvent[],
): void {
  const { agentId, onRun, now } = deps;
  const ended = stored.find((event) => event.type === 'run_ended');
  const run = ended && onRun && readSession(events).run;
  if (ended === undefined || onRun === undefined || run === undefined) return;
  const { outcome, spent } = ended;
  const runId = runIdOf(sessionId, run.seq);
  const began = events.find(({ seq }) => seq === run.seq)?.at;
  // the beginning of a run that was summed up is not at hand: what it spent is
  const ms = began === undefined ? spent.ms : Math.max(0, now() - Date.parse(began));
  const { name: agentName } = definition;
  const trace = traceOf(deps, runId, run.trace);
  onRun({ agentId, agentName, version, sessionId, runId, outcome, spent, ms, trace });
}

class HeldLog implements RunLog {
  readonly sessionId: string;
  readonly #deps: RunDeps;
  readonly #owner: string;
  #events: SessionEvent[];
  #lastSeq: number;
  #tokensToday: number;
  #version: number;
  #definition: AgentDefinition;
  #recalled: Recalled | undefined;

  constructor(deps: RunDeps, owner: string, claimed: Claimed) {
    this.sessionId = claimed.session.id;
    this.#deps = deps;
    this.#owner = owner;
    this.#events = claimed.events;
    this.#lastSeq = claimed.session.lastSeq;
    this.#tokensToday = claimed.tokensToday;
    this.#version = claimed.version;
    this.#definition = claimed.definition;
    this.#recalled = claimed.recalled;
  }

  get definition(): AgentDefinition {
    return this.#definition;
  }

  takeRecalled(query: string): Recalled['memories'] | undefined {
    const found = this.#recalled?.query === query ? this.#recalled.memories : undefined;
    this.#recalled = undefined;
    return found;
  }

  events(): readonly SessionEvent[] {
    return this.#events;
  }

  tokensToday(): number {
    return this.#tokensToday;
  }

  async refresh(): Promise<void> {
    const page = await this.#deps.store.events(this.sessionId, { after: this.#lastSeq, limit: PAGE });
    this.#take(page);
    if (page.length === PAGE) await this.refresh();
  }

  async commit(bodies: readonly SessionEventBody[], { tokens = 0 } = {}): Promise<void> {
    while (!(await this.#append(bodies, tokens)));
  }

  conclude(status: SessionStatus, bodies: readonly SessionEventBody[], { tokens = 0 } = {}): Promise<boolean> {
    return this.#append(bodies, tokens, status);
  }

  #take(more: readonly SessionEvent[]): void {
    for (const event of more) {
      if (event.type === 'compaction') this.#events = this.#events.filter(({ seq }) => seq > event.upTo);
      this.#events.push(event);
      this.#lastSeq = event.seq;
    }
  }

  async #append(bodies: readonly SessionEventBody[], tokens: number, release?: SessionStatus): Promise<boolean> {
    const { store, audience, now } = this.#deps;
    const lines = bodies.flatMap((body) => logLine(body) ?? []);
    const step = { owner: this.#owner, expected: this.#lastSeq, events: bodies, tokens, release, lines };
    const appended = await store.append(this.sessionId, step);
    if (!appended.ok) {
      if (appended.why === 'lost') throw new Interrupted('lost');
      await this.refresh();
      return false;
    }
    const at = new Date(now()).toISOString();
    const stored = bodies.map((body, index) => ({ ...body, seq: this.#lastSeq + index + 1, at }));
    this.#tokensToday += tokens;
    if (appended.version !== undefined && appended.version !== this.#version) await this.#readDefinition();
    const { sessionId } = this;
    const run = { sessionId, definition: this.#definition, version: this.#version, events: this.#events };
    tellEnd(this.#deps, run, stored);
    this.#take(stored);
    for (const event of stored) audience.stored(sessionId, event);
    return true;
  }

  async #readDefinition(): Promise<void> {
    const found = await this.#deps.store.definition();
    if (!found) return;
    this.#version = found.version;
    this.#definition = found.definition;
  }
}

export const openRunLog = (deps: RunDeps, owner: string, claimed: Claimed): RunLog => new HeldLog(deps, owner, claimed);
