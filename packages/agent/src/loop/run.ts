import type { ModelClient } from '@troupe/ai';
import { readTraceparent, traceOfRun, type Log, type Trace } from '@troupe/kernel';
import type { AgentDefinition } from '@troupe/domain';
import type { SessionEvent, SessionEventBody, SessionStatus } from '../session/events.ts';
import { logLine } from '../store/log-line.ts';
import type { RunRecorder, ToolRecorder } from '../ports.ts';
import type { AgentStore, Claimed, Recalled } from '../store/store.ts';
import { readSession } from '../session/session.ts';
import type { Tool } from '../tools/tool.ts';

/** The log of a session in the hands of the one process that holds its lease. */

export interface RunDeps {
  agentId: string;
  store: AgentStore;
  model: ModelClient;
  /** The tools that a definition gives, MCP servers' included. */
  tools: (definition: AgentDefinition, signal: AbortSignal) => Promise<readonly Tool[]>;
  /** A picture of the workspace as a model is shown it; undefined: it is gone, or too large. */
  picture: (path: string) => Promise<string | undefined>;
  onTool?: ToolRecorder | undefined;
  onRun?: RunRecorder | undefined;
  /** Somebody collects traces: every run has one. Else only a run that was asked for within one. */
  traced?: boolean | undefined;
  log: Log;
  newId: () => string;
  now: () => number;
  /** The size of a prompt, in estimated tokens, from which older parts are summed up. */
  compactAt: number;
  /** Somebody reads along: stored events, and text as it is written. */
  onEvent: (sessionId: string, event: SessionEvent) => void;
  onDelta: (sessionId: string, text: string, saw: number, isFresh: boolean) => void;
  watched: (sessionId: string) => boolean;
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
    events,
  }: { sessionId: string; definition: AgentDefinition; events: readonly SessionEvent[] },
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
  onRun({ agentId, agentName, sessionId, runId, outcome, spent, ms, trace: traceOf(deps, runId, run.trace) });
}

export function openRunLog(deps: RunDeps, owner: string, claimed: Claimed): RunLog {
  const { store, onEvent } = deps;
  const sessionId = claimed.session.id;
  let events = claimed.events;
  let lastSeq = claimed.session.lastSeq;
  let { tokensToday, version, definition, recalled } = claimed;

  function take(more: readonly SessionEvent[]): void {
    for (const event of more) {
      if (event.type === 'compaction') events = events.filter(({ seq }) => seq > event.upTo);
      events.push(event);
      lastSeq = event.seq;
    }
  }

  async function refresh(): Promise<void> {
    const page = await store.events(sessionId, { after: lastSeq, limit: PAGE });
    take(page);
    if (page.length === PAGE) await refresh();
  }

  async function append(
    bodies: readonly SessionEventBody[],
    tokens: number,
    release?: SessionStatus,
  ): Promise<boolean> {
    const lines = bodies.flatMap((body) => logLine(body) ?? []);
    const step = { owner, expected: lastSeq, events: bodies, tokens, release, lines };
    const appended = await store.append(sessionId, step);
    if (!appended.ok) {
      if (appended.why === 'lost') throw new Interrupted('lost');
      await refresh();
      return false;
    }
    const at = new Date(deps.now()).toISOString();
    const stored = bodies.map((body, index) => ({ ...body, seq: lastSeq + index + 1, at }));
    tokensToday += tokens;
    if (appended.version !== undefined && appended.version !== version) {
      ({ version, definition } = (await store.definition()) ?? { version, definition });
    }
    tellEnd(deps, { sessionId, definition, events }, stored);
    take(stored);
    for (const event of stored) onEvent(sessionId, event);
    return true;
  }

  return {
    sessionId,
    get definition() {
      return definition;
    },
    takeRecalled(query) {
      const found = recalled?.query === query ? recalled.memories : undefined;
      recalled = undefined;
      return found;
    },
    events: () => events,
    tokensToday: () => tokensToday,
    refresh,
    async commit(bodies, { tokens = 0 } = {}) {
      while (!(await append(bodies, tokens)));
    },
    conclude: (status, bodies, { tokens = 0 } = {}) => append(bodies, tokens, status),
  };
}
