import type { z } from 'zod';
import type { RunOutcome } from '../session/events.ts';
import { openTrail, type Settled } from '../session/session.ts';
import type { ConversationStore } from '../store/conversations.ts';
import { PAGE_BYTES, type Session, type SessionStore } from '../store/store.ts';
import { WIRES, type TaskState, type TaskView, type Wire } from './a2a-wire.ts';
import { owns } from './rights.ts';
import { sendJson, type Exchange } from './exchange.ts';

/** Calls of the Agent2Agent protocol, and tasks as they stand in the log of their session. */

export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** One call: what to answer it with. */
export interface Call {
  exchange: Exchange;
  version: keyof typeof WIRES;
  wire: Wire;
  id: string | number | null;
  params: unknown;
}

export type Method = (call: Call) => Promise<void>;

export function checked<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const at = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new RpcError(-32_602, at === '' ? 'Invalid parameters' : `Invalid parameters: ${at}`);
}

export const answer = ({ exchange, id }: Pick<Call, 'exchange' | 'id'>, result: unknown): void =>
  void sendJson(exchange, { jsonrpc: '2.0', id, result });

export const taskId = (sessionId: string, seq: number): string => `${sessionId}:${seq}`;

interface TaskRef {
  sessionId: string;
  seq: number;
}

export function refOf(id: string): TaskRef | undefined {
  const match = /^([\w.-]+):(\d{1,9})$/.exec(id);
  return match ? { sessionId: match[1]!, seq: Number(match[2]) } : undefined;
}

export const isOver = (state: TaskState): boolean => state !== 'working' && state !== 'input-required';

const PAGE = 500;
const MOST_SAID = 50;

export async function taskOf({ agent, principal }: Exchange, id: string): Promise<TaskRef & { view: TaskView }> {
  const ref = refOf(id);
  const session = ref && (await agent.store.session(ref.sessionId));
  const view = ref && session && owns(principal, session) ? await readTask(agent.store, session, ref.seq) : undefined;
  if (!ref || !view) throw new RpcError(-32_001, 'Task not found');
  return { ...ref, view };
}

type Log = Pick<SessionStore, 'events'> & Pick<ConversationStore, 'session'>;

async function readTask(store: Log, session: Session, seq: number): Promise<TaskView | undefined> {
  if (session.channel !== 'a2a') return undefined;
  const [first] = await store.events(session.id, { after: seq - 1, limit: 1 });
  if (first?.type !== 'user' || first.seq !== seq) return undefined;
  const trail = openTrail(seq);
  let { at } = first;
  const history: NonNullable<TaskView['history']>[number][] = [
    { seq: first.seq, role: 'user', text: saidIn(first.content, first.attachments) },
  ];
  for (let isMore = true; isMore && !trail.answer();) {
    const page = await store.events(session.id, { after: trail.last(), limit: PAGE, bytes: PAGE_BYTES });
    for (const event of page) {
      trail.add(event);
      if (event.type === 'assistant' && event.content !== '' && event.saw >= seq)
        history.push({ seq: event.seq, role: 'agent', text: event.content });
      if (trail.answer()) break;
    }
    // Of a long run, what it was asked and its newest words.
    history.splice(1, tooMany(history));
    at = page.at(-1)?.at ?? at;
    isMore = page.length > 0;
  }
  const base: TaskView = { id: taskId(session.id, seq), contextId: session.key, state: 'working', at, history };
  return viewOf(base, trail.answer(), session.status === 'waiting');
}

const saidIn = (content: string, attachments: readonly { path: string }[] = []): string =>
  [content, ...attachments.map(({ path }) => `[attached: ${path}]`)].filter(Boolean).join('\n');

/** How many words after the first are left out, so that the rest are few and short. */
function tooMany(history: NonNullable<TaskView['history']>): number {
  let [kept, length] = [0, 0];
  for (let at = history.length - 1; at > 0 && kept < MOST_SAID - 1; at -= 1) {
    length += history[at]!.text.length;
    if (length > PAGE_BYTES && kept > 0) break;
    kept += 1;
  }
  return history.length - 1 - kept;
}

/** What is told of a task to who waits for it; undefined: nothing, it goes on or is gone. */
export async function a2aNotification(
  store: Log,
  { sessionId, seq }: TaskRef,
  version: keyof typeof WIRES,
): Promise<{ body: object; isOver: boolean } | undefined> {
  const session = await store.session(sessionId);
  const view = session && (await readTask(store, session, seq));
  if (!view || view.state === 'working') return undefined;
  return { body: WIRES[version].sent(view), isOver: isOver(view.state) };
}

const STATES: Record<RunOutcome, TaskState> = {
  done: 'completed',
  cancelled: 'canceled',
  failed: 'failed',
  limit: 'failed',
  loop: 'failed',
};

/** The task, whose message came to this so far. */
export function viewOf(view: TaskView, settled: Settled | undefined, waits: boolean): TaskView {
  if (!settled)
    return waits ? { ...view, state: 'input-required', text: 'This needs an approval before I can go on.' } : view;
  const { outcome, reply, reason, at } = settled;
  const text = outcome === 'done' ? reply : (reason ?? 'The run was cancelled.');
  return { ...view, state: STATES[outcome], at, text };
}
