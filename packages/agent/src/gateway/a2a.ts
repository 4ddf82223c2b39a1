import { AppError, newId } from '@troupe/kernel';
import { z } from 'zod';
import type { Agent, Answer } from '../agent.ts';
import { readBody, sendJson, type Exchange } from './exchange.ts';
import type { GatewayDeps } from './types.ts';

/** The Agent2Agent protocol: a card that says what the agent is, and messages over JSON-RPC. A context is a session. */

const PROTOCOL = '0.3.0';

export async function agentCard(agent: Agent, { publicUrl, version }: GatewayDeps): Promise<object> {
  const { definition, version: revision } = await agent.definition();
  const url = publicUrl(agent.id);
  return {
    protocolVersion: PROTOCOL,
    name: definition.name,
    description: definition.description || definition.role || 'An agent on Troupe',
    url: `${url}/a2a`,
    preferredTransport: 'JSONRPC',
    version: `${version}+${revision}`,
    capabilities: { streaming: false, pushNotifications: false, stateTransitionHistory: false },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    securitySchemes: { gatewayToken: { type: 'http', scheme: 'bearer' } },
    security: [{ gatewayToken: [] }],
    skills: [
      {
        id: 'chat',
        name: definition.role || 'Assistant',
        description: definition.description || 'Answers messages and carries out tasks.',
        tags: ['chat', ...definition.tools],
      },
    ],
  };
}

const callSchema = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]).optional(),
  method: z.string(),
  params: z.unknown().optional(),
});

const sendParams = z.object({
  message: z.looseObject({
    messageId: z.string().min(1).max(200),
    role: z.literal('user'),
    parts: z.array(z.looseObject({ kind: z.string(), text: z.string().optional() })).min(1),
    contextId: z.string().max(200).optional(),
  }),
});
const taskParams = z.object({ id: z.string() });

class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export async function a2a(exchange: Exchange): Promise<void> {
  let id: string | number | null = null;
  try {
    const call = parseCall((await readBody(exchange.request)).toString('utf8'));
    id = call.id ?? null;
    sendJson(exchange, { jsonrpc: '2.0', id, result: await dispatch(exchange, call.method, call.params) });
  } catch (error) {
    if (!(error instanceof RpcError) && !(error instanceof AppError)) throw error;
    const code = error instanceof RpcError ? error.code : error.status === 404 ? -32_001 : -32_603;
    sendJson(exchange, { jsonrpc: '2.0', id, error: { code, message: error.message } });
  }
}

function parseCall(text: string): z.output<typeof callSchema> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RpcError(-32_700, 'Invalid JSON');
  }
  const parsed = callSchema.safeParse(value);
  if (!parsed.success) throw new RpcError(-32_600, 'Invalid request');
  return parsed.data;
}

function params<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new RpcError(-32_602, 'Invalid parameters');
  return parsed.data;
}

async function dispatch({ agent, principal }: Exchange, method: string, given: unknown): Promise<object> {
  if (method === 'message/send') {
    const { message } = params(sendParams, given);
    const content = message.parts
      .map(({ text }) => text ?? '')
      .join('\n')
      .trim();
    if (content === '') throw new RpcError(-32_005, 'Only text is understood');
    const contextId = message.contextId ?? newId();
    const answer = await agent.ask({
      to: { channel: 'a2a', key: contextId },
      inputId: message.messageId,
      content,
      from: principal.kind,
    });
    return task(answer, contextId);
  }
  if (method === 'tasks/get' || method === 'tasks/cancel') {
    const { id } = params(taskParams, given);
    const session = await agent.store.session(id);
    if (!session) throw new RpcError(-32_001, 'Task not found');
    if (method === 'tasks/cancel' && !(await agent.cancel(id, 'a2a')))
      throw new RpcError(-32_002, 'Task cannot be canceled');
    const state =
      method === 'tasks/cancel'
        ? 'canceled'
        : { idle: 'completed', open: 'working', waiting: 'input-required' }[session.status];
    return { kind: 'task', id, contextId: session.key, status: { state, timestamp: session.updatedAt } };
  }
  throw new RpcError(-32_601, `Unknown method ${method}`);
}

const STATES = {
  done: 'completed',
  cancelled: 'canceled',
  failed: 'failed',
  limit: 'failed',
  loop: 'failed',
  waiting: 'input-required',
};

const task = ({ sessionId, outcome, reply }: Answer, contextId: string): object => ({
  kind: 'task',
  id: sessionId,
  contextId,
  status: {
    state: STATES[outcome],
    timestamp: new Date().toISOString(),
    message: {
      kind: 'message',
      role: 'agent',
      messageId: newId(),
      contextId,
      taskId: sessionId,
      parts: [{ kind: 'text', text: reply }],
    },
  },
  ...(outcome === 'done' && { artifacts: [{ artifactId: 'reply', parts: [{ kind: 'text', text: reply }] }] }),
});
