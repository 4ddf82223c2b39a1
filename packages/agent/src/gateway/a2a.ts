import { AppError, eachOf, newId, parseJson } from '@troupe/kernel';
import { z } from 'zod';
import { openTrail } from '../session/session.ts';
import { pages } from '../session/reading.ts';
import { PAGE_BYTES } from '../store/store.ts';
import * as push from './a2a-push.ts';
import {
  answer,
  checked,
  isOver,
  refOf,
  RpcError,
  taskId,
  taskOf,
  viewOf,
  type Call,
  type Method,
} from './a2a-tasks.ts';
import { extendedCard, partSchema, readPart, WIRES, type TaskView } from './a2a-wire.ts';
import { bring, type Given } from './brought.ts';
import { keyFor, ownKeys } from './rights.ts';
import { openEventStream, readInTurn, roomForFiles, sendJson, type Exchange } from './exchange.ts';
import { readAhead } from './read-ahead.ts';

/**
 * The Agent2Agent protocol over JSON-RPC. A context is a session; a task is one message and the run that answers it, so
 * its id is the session's and the number of the message in it.
 */

const callSchema = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]).optional(),
  method: z.string(),
  params: z.unknown().optional(),
});

const sendParams = z.object({
  message: z.looseObject({
    messageId: z.string().min(1).max(200),
    role: z.enum(['user', 'ROLE_USER']),
    parts: z.array(partSchema).min(1),
    contextId: z.string().max(200).optional(),
    taskId: z.string().max(200).optional(),
  }),
  configuration: z
    .looseObject({
      returnImmediately: z.boolean().optional(),
      blocking: z.boolean().optional(),
      historyLength: z.int().min(0).nullish(),
      pushNotificationConfig: z.unknown().optional(),
      taskPushNotificationConfig: z.unknown().optional(),
    })
    .nullish(),
});
const taskParams = z.object({ id: z.string().max(200), historyLength: z.int().min(0).nullish() });
const MOST_LISTED = 100;
const listParams = z.object({
  contextId: z.string().max(200).nullish(),
  pageSize: z.int().min(1).max(MOST_LISTED).nullish(),
  pageToken: z
    .string()
    .regex(/^\d{0,9}$/)
    .nullish(),
  historyLength: z.int().min(0).nullish(),
  includeArtifacts: z.boolean().nullish(),
  status: z.enum(['TASK_STATE_UNSPECIFIED']).nullish(),
  statusTimestampAfter: z.null().optional(),
});

const unsupported = (why: string) => new RpcError(-32_004, why);

const METHODS: Record<string, [version: keyof typeof WIRES, method: Method]> = {
  SendMessage: ['1.0', sendMessage],
  SendStreamingMessage: ['1.0', sendStreamingMessage],
  GetTask: ['1.0', getTask],
  CancelTask: ['1.0', cancelTask],
  SubscribeToTask: ['1.0', subscribe],
  ListTasks: ['1.0', listTasks],
  GetExtendedAgentCard: ['1.0', getCard],
  CreateTaskPushNotificationConfig: ['1.0', push.set],
  GetTaskPushNotificationConfig: ['1.0', push.get],
  ListTaskPushNotificationConfigs: ['1.0', push.list],
  DeleteTaskPushNotificationConfig: ['1.0', push.remove],
  'message/send': ['0.3', sendMessage],
  'message/stream': ['0.3', sendStreamingMessage],
  'tasks/get': ['0.3', getTask],
  'tasks/cancel': ['0.3', cancelTask],
  'tasks/resubscribe': ['0.3', subscribe],
  'agent/getAuthenticatedExtendedCard': ['0.3', getCard],
  'tasks/pushNotificationConfig/set': ['0.3', push.set],
  'tasks/pushNotificationConfig/get': ['0.3', push.get],
  'tasks/pushNotificationConfig/list': ['0.3', push.list],
  'tasks/pushNotificationConfig/delete': ['0.3', push.remove],
};

/** What statuses are called there: a task that is not known, and parameters that are wrong. */
const CODES: Readonly<Record<number, number>> = { 404: -32_001, 400: -32_602 };

export async function a2a(exchange: Exchange): Promise<void> {
  let id: Call['id'] = null;
  try {
    const call = await readInTurn(exchange, parseCall, roomForFiles(exchange));
    id = call.id ?? null;
    const asked = exchange.request.headers['a2a-version'];
    if (typeof asked === 'string' && !/^(0\.3|1)(\.\d+)*$/.test(asked.trim()))
      throw new RpcError(-32_009, `Version ${asked} is not supported: 1.0 and 0.3 are`);
    const found = Object.hasOwn(METHODS, call.method) ? METHODS[call.method] : undefined;
    if (!found) throw new RpcError(-32_601, `Unknown method ${call.method}`);
    const [version, method] = found;
    await method({ exchange, version, wire: WIRES[version], id, params: call.params });
  } catch (error) {
    if (!(error instanceof RpcError) && !(error instanceof AppError)) throw error;
    const code = error instanceof RpcError ? error.code : (CODES[error.status] ?? -32_603);
    sendJson(exchange, { jsonrpc: '2.0', id, error: { code, message: error.message } });
  }
}

function parseCall(text: string): z.output<typeof callSchema> {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new RpcError(-32_700, (error as Error).message);
  }
  const parsed = callSchema.safeParse(value);
  if (!parsed.success) throw new RpcError(-32_600, 'Invalid request');
  return parsed.data;
}

/** What one message asks the agent, and the task that it goes on with, if it names one. */
async function inputOf(call: Call) {
  const { exchange, params } = call;
  const { message, configuration } = checked(sendParams, params);
  const told = push.wanted(call, configuration?.taskPushNotificationConfig ?? configuration?.pushNotificationConfig);
  const { content, given } = await taken(() => read(message.parts));
  const earlier = message.taskId ? await taskOf(exchange, message.taskId) : undefined;
  if (earlier && message.contextId && message.contextId !== earlier.view.contextId)
    throw new RpcError(-32_602, 'The task belongs to another context');
  if (earlier && isOver(earlier.view.state)) throw unsupported('The task is over: send the message without its id');
  const contextId = keyFor(exchange.principal, earlier?.view.contextId ?? (message.contextId || newId()));
  const attachments = await taken(() => bring(exchange, given));
  const input = {
    to: { channel: 'a2a', key: contextId },
    inputId: message.messageId,
    content,
    attachments,
    from: exchange.principal.kind,
  };
  const atOnce = configuration?.returnImmediately ?? configuration?.blocking === false;
  return { input, earlier, contextId, atOnce, told, historyLength: configuration?.historyLength };
}

/** Nothing is left out without a word: a part that the agent cannot read is refused. */
function read(parts: z.output<typeof sendParams>['message']['parts']): { content: string; given: Given[] } {
  const [words, given]: [string[], Given[]] = [[], []];
  for (const part of parts) {
    const one = readPart(part);
    if (one === undefined) throw new RpcError(-32_005, 'Only text, data and files are understood');
    if (typeof one === 'string') words.push(one);
    else given.push(one);
  }
  const content = words.join('\n').trim();
  if (content === '' && given.length === 0) throw new RpcError(-32_005, 'There is no text in it, and no file');
  return { content, given };
}

/** A file that cannot be taken is of a type that is not understood, as the protocol has it. */
async function taken<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError && (error.status === 400 || error.status === 413))
      throw new RpcError(-32_005, error.message);
    throw error;
  }
}

async function sendMessage(call: Call): Promise<void> {
  const { agent } = call.exchange;
  const { input, earlier, atOnce, told, historyLength } = await inputOf(call);
  const reply = async (id: string): Promise<void> => {
    const { view } = await taskOf(call.exchange, id);
    answer(call, call.wire.sent(recent(view, historyLength)));
  };
  if (atOnce) {
    const { sessionId, seq } = await agent.tell(input);
    const taken = earlier?.view.id ?? taskId(sessionId, seq);
    await told?.(taken);
    return reply(taken);
  }
  let id = earlier?.view.id ?? '';
  let kept: Promise<void> | undefined;
  await agent.ask({
    ...input,
    onTaken: ({ sessionId, seq }) => {
      id ||= taskId(sessionId, seq);
      kept = told?.(id);
      // Awaited below, once the answer is there.
      kept?.catch(() => undefined);
    },
  });
  await kept;
  await reply(id);
}

async function sendStreamingMessage(call: Call): Promise<void> {
  const { agent, signal } = call.exchange;
  const { input, earlier, contextId, told: wanted } = await inputOf(call);
  let told: Promise<unknown> | undefined;
  await agent.tell({
    ...input,
    // Reading along starts before the work does: no word is missed.
    onTaken: ({ sessionId, seq }) => {
      const id = earlier?.view.id ?? taskId(sessionId, seq);
      const view: TaskView = { id, contextId, state: 'working', at: new Date().toISOString() };
      const streamed = stream(call, view, agent.follow(sessionId, refOf(id)!.seq, signal));
      told = Promise.all([streamed, wanted?.(id)]);
      // Awaited below; until then a stream that broke off is nobody's.
      told.catch(() => undefined);
    },
  });
  await told;
}

async function subscribe(call: Call): Promise<void> {
  const { exchange } = call;
  const { view, sessionId, seq } = await taskOf(exchange, checked(taskParams, call.params).id);
  if (isOver(view.state)) throw unsupported('The task is over');
  await stream(call, view, exchange.agent.follow(sessionId, seq, exchange.signal));
}

async function getTask(call: Call): Promise<void> {
  const { id, historyLength } = checked(taskParams, call.params);
  const { view } = await taskOf(call.exchange, id);
  answer(call, call.wire.task(recent(view, historyLength)));
}

/** With as much of what was said as is asked for. */
function recent(view: TaskView, length: number | null | undefined): TaskView {
  if (length === undefined || length === null) return view;
  return { ...view, history: length === 0 ? [] : (view.history ?? []).slice(-length) };
}

async function getCard({ exchange, ...call }: Call): Promise<void> {
  answer({ exchange, ...call }, await extendedCard(exchange.agent, exchange.deps));
}

const LISTED = 50;

/** The newest first. */
async function listTasks(call: Call): Promise<void> {
  const { agent, principal, signal } = call.exchange;
  const wanted = checked(listParams, call.params ?? {});
  const size = wanted.pageSize ?? LISTED;
  const offset = Number(wanted.pageToken || 0);
  const list = async () => {
    const { inputs, total } = await agent.store.inputs({
      channel: 'a2a',
      limit: size,
      offset,
      keys: ownKeys(principal),
      key: wanted.contextId ? keyFor(principal, wanted.contextId) : undefined,
    });
    const tasks: object[] = [];
    let bytes = 0;
    for (const { sessionId, seq } of inputs) {
      const { view } = await taskOf(call.exchange, taskId(sessionId, seq));
      const task = call.wire.task({ ...recent(view, wanted.historyLength ?? 0), bare: !wanted.includeArtifacts });
      tasks.push(task);
      bytes += JSON.stringify(task).length;
      if (bytes > PAGE_BYTES) break;
    }
    return { tasks, total };
  };
  // Each is read from its log: one list of an owner's at a time.
  const { tasks, total } = await pages.run(agent.owner, list, signal);
  const next = offset + tasks.length;
  answer(call, { tasks, totalSize: total, pageSize: size, nextPageToken: next < total ? String(next) : '' });
}

const CANCEL_MS = 5_000;

async function cancelTask(call: Call): Promise<void> {
  const { exchange } = call;
  const { id } = checked(taskParams, call.params);
  const { view, sessionId, seq } = await taskOf(exchange, id);
  if (isOver(view.state) || !(await exchange.agent.cancel(sessionId, 'a2a')))
    throw new RpcError(-32_002, 'Task cannot be canceled');
  for await (const live of exchange.agent.follow(sessionId, seq, AbortSignal.timeout(CANCEL_MS)))
    if (live.kind === 'event' && live.event.type === 'run_ended') break;
  answer(call, call.wire.task((await taskOf(exchange, id)).view));
}

/** The task, its text as it is written, and how it ends. */
async function stream(call: Call, view: TaskView, follow: ReturnType<Exchange['agent']['follow']>): Promise<void> {
  const { exchange, wire, id } = call;
  const events = readAhead(follow);
  const out = openEventStream(exchange);
  const say = (result: object) => out.send({ data: { jsonrpc: '2.0', id, result } });
  await say(wire.sent(view));
  const { seq } = refOf(view.id)!;
  const trail = openTrail(seq);
  let append = false;
  await eachOf(events, async (live) => {
    if (live.kind === 'delta') {
      if (live.saw < seq) return false;
      await say(wire.artifact(view, live.text, { append, lastChunk: false }));
      append = true;
      return false;
    }
    trail.add(live.event);
    const now = viewOf(view, trail.answer(), live.event.type === 'approval_requested');
    if (!isOver(now.state) && now.state !== 'input-required') return false;
    // The whole answer replaces what was written on the way to it.
    if (now.state === 'completed') await say(wire.artifact(view, now.text ?? '', { append: false, lastChunk: true }));
    await say(wire.status(now));
    return true;
  });
  out.end();
}
