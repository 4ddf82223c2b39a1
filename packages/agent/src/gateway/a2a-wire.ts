import { z } from 'zod';
import type { Agent } from '../agent.ts';
import { decoded, type Given } from './brought.ts';
import type { GatewayDeps } from './types.ts';

/** How the Agent2Agent protocol writes things down: version 1.0, and 0.3 for clients that have not moved on. */

export type TaskState = 'working' | 'completed' | 'failed' | 'canceled' | 'input-required';

/** One input and the run that answers it. */
export interface TaskView {
  id: string;
  contextId: string;
  state: TaskState;
  at: string;
  /** What the agent has to say about it; none while it works. */
  text?: string;
  /** What was said in it, the oldest first. */
  history?: readonly { seq: number; role: 'user' | 'agent'; text: string }[];
  /** Without what came of it. */
  bare?: boolean;
}

const name = z.string().max(1000).nullish();
/** A part of a message as both versions write it: 0.3 has what a file is in `file`, 1.0 beside its bytes. */
export const partSchema = z.looseObject({
  text: z.string().optional(),
  data: z.unknown().optional(),
  raw: z.string().optional(),
  url: z.string().optional(),
  filename: name,
  mediaType: name,
  file: z.looseObject({ bytes: z.string().optional(), uri: z.string().optional(), name, mimeType: name }).optional(),
});
type Part = z.output<typeof partSchema>;

/** Words, or a file; undefined: it is neither, and nobody can say what it is. */
export function readPart({ text, data, raw, url, filename, mediaType, file }: Part): string | Given | undefined {
  if (text !== undefined) return text;
  const isFile = raw !== undefined || url !== undefined || file !== undefined;
  if (!isFile) return data === undefined ? undefined : JSON.stringify(data);
  const [mime, called] = [file?.mimeType ?? mediaType, file?.name ?? filename];
  const kind = mime?.startsWith('image/') ? 'picture' : 'file';
  return decoded({ data: file ? file.bytes : raw, mime: mime ?? undefined, kind, name: called ?? undefined });
}

export interface Wire {
  task: (view: TaskView) => object;
  /** A task as the answer to a message, or as the first event of a stream. */
  sent: (view: TaskView) => object;
  status: (view: TaskView) => object;
  artifact: (view: TaskView, text: string, chunk: { append: boolean; lastChunk: boolean }) => object;
}

const ARTIFACT = 'reply';

function createWire(isLegacy: boolean): Wire {
  const kind = (name: string): object => (isLegacy ? { kind: name } : {});
  const part = (text: string): object => ({ ...kind('text'), text });
  const enumerated = (prefix: string, value: string): string =>
    isLegacy ? value : `${prefix}_${value.toUpperCase().replace('-', '_')}`;

  const message = ({ id, contextId }: Pick<TaskView, 'id' | 'contextId'>, role: string, text: string): object => ({
    ...kind('message'),
    contextId,
    taskId: id,
    role: enumerated('ROLE', role),
    parts: [part(text)],
  });
  const statusOf = ({ id, contextId, state, at, text }: TaskView): object => ({
    state: enumerated('TASK_STATE', state),
    timestamp: at,
    ...(text !== undefined && {
      message: {
        ...message({ id, contextId }, 'agent', text),
        messageId: `${id}:${state}`,
      },
    }),
  });
  const artifactOf = (text: string): object => ({ artifactId: ARTIFACT, parts: [part(text)] });
  const task = (view: TaskView): object => ({
    ...kind('task'),
    id: view.id,
    contextId: view.contextId,
    status: statusOf(view),
    ...(view.state === 'completed' && !view.bare && { artifacts: [artifactOf(view.text ?? '')] }),
    ...(view.history && {
      history: view.history.map(({ seq, role, text }) => ({
        ...message(view, role, text),
        messageId: `${view.id}:${seq}`,
      })),
    }),
  });
  const wrapped = (name: string, body: object): object => (isLegacy ? body : { [name]: body });

  return {
    task,
    sent: (view) => wrapped('task', task(view)),
    status: (view) =>
      wrapped('statusUpdate', {
        ...kind('status-update'),
        taskId: view.id,
        contextId: view.contextId,
        status: statusOf(view),
        ...(isLegacy && { final: view.state !== 'working' }),
      }),
    artifact: (view, text, chunk) =>
      wrapped('artifactUpdate', {
        ...kind('artifact-update'),
        taskId: view.id,
        contextId: view.contextId,
        artifact: artifactOf(text),
        ...chunk,
      }),
  };
}

export const WIRES = { '1.0': createWire(false), '0.3': createWire(true) };

/** The same for those who may talk to it: also each skill that it has. */
export async function extendedCard(agent: Agent, deps: GatewayDeps): Promise<object> {
  const { definition } = await agent.definition();
  const card = await agentCard(agent, deps);
  const learned = (definition.skills ?? []).map(({ name, description }) => ({
    id: `skill:${name}`,
    name,
    description,
    tags: ['skill'],
  }));
  return { ...card, skills: [...card.skills, ...learned] };
}

/** One card for both: each version ignores the fields of the other. */
export async function agentCard(agent: Agent, { publicUrl, version, push }: GatewayDeps) {
  const { definition, version: revision } = await agent.definition();
  const url = `${publicUrl(agent.id)}/a2a`;
  return {
    name: definition.name,
    description: definition.description || definition.role || 'An agent on Troupe',
    version: `${version}+${revision}`,
    supportedInterfaces: [
      { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ],
    capabilities: { streaming: true, pushNotifications: push !== undefined, extendedAgentCard: true },
    defaultInputModes: ['text/plain', 'application/json', 'image/*', 'application/octet-stream'],
    defaultOutputModes: ['text/plain'],
    securitySchemes: {
      gatewayToken: { httpAuthSecurityScheme: { scheme: 'Bearer' }, type: 'http', scheme: 'bearer' },
    },
    securityRequirements: [{ schemes: { gatewayToken: { list: [] } } }],
    skills: [
      {
        id: 'chat',
        name: definition.role || 'Assistant',
        description: definition.description || 'Answers messages and carries out tasks.',
        tags: ['chat', ...definition.tools],
      },
    ],
    // 0.3
    protocolVersion: '0.3.0',
    url,
    preferredTransport: 'JSONRPC',
    supportsAuthenticatedExtendedCard: true,
    security: [{ gatewayToken: [] }],
  };
}
