import { newId } from '@troupe/kernel';
import { z } from 'zod';
import { limitsSchema } from '@troupe/domain';
import type { Kept } from '../agent.ts';
import { cancelWork } from '../tools/transfer-task.ts';
import { readJson, sendJson, type Exchange } from './exchange.ts';

/** Work that is given to the agent by the platform: scheduled prompts and messages of other agents. */

const text = (message: string, max: number) =>
  z.string(message).trim().min(1, message).max(max, `${message} (too long)`);

const executeSchema = z.object(
  {
    taskId: text('taskId required', 200),
    /** The owner's prompt, and what arrived. */
    prompt: text('prompt required', 200_000),
    /** One occurrence of the task: given again, it answers with what it did before. */
    runId: z.string().min(1).max(200).optional(),
    limits: limitsSchema.optional(),
    /** It is work that somebody has in the background, so deep. */
    depth: z.int().min(0).max(100).optional(),
  },
  'Invalid request body',
);

const taskKey = (taskId: string, runId: string): string => `${taskId}:${runId}`;

export async function execute(exchange: Exchange): Promise<void> {
  const { taskId, prompt, runId, limits, depth } = await readJson(exchange, executeSchema);
  const answer = await exchange.agent.ask({
    to: { channel: 'task', key: runId === undefined ? `${taskId}:${newId()}` : taskKey(taskId, runId) },
    ...(runId !== undefined && { inputId: runId }),
    content: prompt,
    from: `task ${taskId}`,
    ...(limits && { limits }),
    ...(depth !== undefined && { depth }),
  });
  const status = answer.outcome === 'done' ? 'completed' : answer.outcome === 'waiting' ? 'waiting' : 'failed';
  sendJson(exchange, {
    taskId,
    sessionId: answer.sessionId,
    status,
    outcome: answer.outcome,
    output: answer.reply,
    ...(status === 'failed' && { error: answer.reason ?? answer.outcome }),
    spent: answer.spent,
  });
}

const messageSchema = z.looseObject({
  messageId: text('messageId required', 200),
  from: z.looseObject({ agentId: text('from.agentId required', 200) }, 'from required'),
  action: text('action required', 200),
  payload: z.unknown().optional(),
});

const busBody = z.union([z.object({ message: messageSchema }), messageSchema], {
  error: 'Invalid message: messageId, from.agentId and action are required',
});

/** Takes a message and answers when it is stored; the agent reads it in its own time. A repeat changes nothing. */
export async function receiveBusMessage(exchange: Exchange): Promise<void> {
  const body = await readJson(exchange, busBody);
  const { messageId, from, action, payload } =
    'message' in body && isMessage(body.message) ? body.message : (body as BusMessage);
  const { sessionId, duplicate } = await exchange.agent.tell({
    to: { channel: 'bus', key: from.agentId },
    inputId: messageId,
    from: from.agentId,
    content: `Message from the agent ${from.agentId}, action ${action}:\n${JSON.stringify(payload ?? null)}`,
  });
  sendJson(exchange, { success: true, messageId, sessionId, duplicate }, 202);
}

type BusMessage = z.output<typeof messageSchema>;
const isMessage = (value: unknown): value is BusMessage =>
  typeof value === 'object' && value !== null && 'messageId' in value;

export async function readConfig(exchange: Exchange<Kept>): Promise<void> {
  const { definition } = await exchange.agent.definition();
  sendJson(exchange, { config: definition.config });
}

const anything = z.unknown();

export async function changeConfig(exchange: Exchange): Promise<void> {
  const body = await readJson(exchange, anything);
  const config = await exchange.agent.configure(isObject(body) && isObject(body['config']) ? body['config'] : body);
  sendJson(exchange, { config });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const cancelSchema = z.object(
  { taskId: text('taskId required', 200), runId: text('runId required', 200) },
  'Invalid request body',
);

/** Ends a run of /execute by the names under which it was given. */
export async function cancelTask(exchange: Exchange): Promise<void> {
  const { taskId, runId } = await readJson(exchange, cancelSchema);
  await cancelWork(exchange.agent, 'task', taskKey(taskId, runId));
  sendJson(exchange, { success: true });
}
