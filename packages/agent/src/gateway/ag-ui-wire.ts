import { newId } from '@troupe/kernel';
import { z } from 'zod';
import type { LiveEvent } from '../agent.ts';
import type { CallRecord, SessionEvent } from '../session/events.ts';
import { decoded, type Given } from './brought.ts';

/** How AG-UI writes things down: what a page sends, and the events that it draws. */

const name = z.string().min(1).max(150);
const part = z.looseObject({ type: z.string(), text: z.string().optional() });

const message = z.looseObject({
  id: z.string().max(200).optional(),
  role: z.enum(
    ['user', 'assistant', 'system', 'developer', 'tool', 'activity', 'reasoning'],
    'a message must have the role user, assistant, system, developer, tool, activity or reasoning',
  ),
  content: z.unknown().optional(),
  toolCallId: z.string().max(200).optional(),
});
export type AgUiMessage = z.output<typeof message>;

const tool = z.looseObject({
  name: z.string().regex(/^[\w.:-]{1,128}$/, 'a tool must have a name of letters, digits, dots, colons and dashes'),
  description: z.string().default(''),
  parameters: z.record(z.string(), z.unknown()).nullish(),
});

export const runInput = z.object(
  {
    threadId: name,
    runId: name,
    messages: z.array(message).max(5000),
    tools: z.array(tool).max(512).nullish(),
    context: z
      .array(z.looseObject({ description: z.string(), value: z.string() }))
      .max(200)
      .nullish(),
    state: z.unknown().optional(),
    resume: z
      .array(
        z.looseObject({
          interruptId: name,
          status: z.enum(['resolved', 'cancelled']),
          payload: z.unknown().optional(),
        }),
      )
      .max(100)
      .nullish(),
  },
  'Invalid request body',
);
export type RunInput = z.output<typeof runInput>;

/** Pictures, sounds, films and documents; `binary` is what they were called before. */
const MEDIA: ReadonlySet<string> = new Set(['image', 'audio', 'video', 'document', 'binary']);
const media = z.looseObject({
  type: z.string(),
  source: z
    .looseObject({ type: z.string(), value: z.string(), mimeType: z.string().max(200).optional() })
    .optional()
    .catch(undefined),
  metadata: z
    .looseObject({ filename: z.string().max(500).optional() })
    .optional()
    .catch(undefined),
  mimeType: z.string().max(200).optional().catch(undefined),
  data: z.string().optional().catch(undefined),
  filename: z.string().max(500).optional().catch(undefined),
});

/** What of a message is neither text nor, from a person, a file; undefined: nothing. */
export const foreignPart = ({ role, content }: AgUiMessage): string | undefined =>
  z
    .array(part)
    .safeParse(content)
    .data?.find(({ type }) => type !== 'text' && !(role === 'user' && MEDIA.has(type)))?.type;

/** Files that come with a message. */
export const filesIn = ({ content }: AgUiMessage): Given[] =>
  (z.array(media).safeParse(content).data ?? [])
    .filter(({ type }) => MEDIA.has(type))
    .map(({ type, source, mimeType, data, filename, metadata }) => {
      const mime = source?.mimeType ?? mimeType;
      const isPicture = type === 'image' || (type === 'binary' && mime?.startsWith('image/') === true);
      return decoded({
        data: source?.type === 'data' ? source.value : data,
        mime,
        kind: isPicture ? 'picture' : 'file',
        name: filename ?? metadata?.filename,
      });
    });

export function textOf({ content }: AgUiMessage): string {
  if (typeof content === 'string') return content;
  const parts = z.array(part).safeParse(content).data ?? [];
  return parts.map(({ text }) => text ?? '').join('');
}

export type AgUiEvent = { type: string } & Record<string, unknown>;

const pointer = (key: string): string => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** What the agent changes of the page's state, as JSON Patch; null takes a key away. */
export const stateDelta = (changes: Readonly<Record<string, unknown>>, had: ReadonlySet<string>): AgUiEvent => ({
  type: 'STATE_DELTA',
  delta: Object.entries(changes).flatMap(([key, value]) => {
    if (value !== null) return [{ op: 'add', path: pointer(key), value }];
    return had.has(key) ? [{ op: 'remove', path: pointer(key) }] : [];
  }),
});

/** The words and calls of one run, as they come. */
export class AgUiWriter {
  #open: string | undefined;
  #said = '';
  #mind: string | undefined;

  /** What it thinks, until it speaks or acts. */
  thought(delta: string): AgUiEvent[] {
    const begin = this.#mind === undefined;
    const messageId = (this.#mind ??= newId());
    return [
      ...(begin
        ? [
            { type: 'REASONING_START', messageId },
            { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' },
          ]
        : []),
      { type: 'REASONING_MESSAGE_CONTENT', messageId, delta },
    ];
  }

  #thought(): AgUiEvent[] {
    const messageId = this.#mind;
    this.#mind = undefined;
    if (messageId === undefined) return [];
    return [
      { type: 'REASONING_MESSAGE_END', messageId },
      { type: 'REASONING_END', messageId },
    ];
  }

  delta({ text, fresh }: Extract<LiveEvent, { kind: 'delta' }>): AgUiEvent[] {
    // It begins anew: what was shown cannot be taken back, so it stays as a message of its own.
    const ended = fresh && this.#said !== '' && !text.startsWith(this.#said) ? this.#end() : [];
    const more = fresh ? text.slice(this.#said.length) : text;
    return [...ended, ...this.#say(more)];
  }

  said({ content, toolCalls }: SessionEvent & { type: 'assistant' }): AgUiEvent[] {
    const isSame = content.startsWith(this.#said);
    const words = isSame ? this.#say(content.slice(this.#said.length)) : [...this.#end(), ...this.#say(content)];
    const parentMessageId = this.#open;
    return [
      ...this.#thought(),
      ...words,
      ...this.#end(),
      ...toolCalls.flatMap((call) => callEvents(call, parentMessageId)),
    ];
  }

  result = ({ callId, content }: SessionEvent & { type: 'tool_result' }): AgUiEvent => ({
    type: 'TOOL_CALL_RESULT',
    messageId: newId(),
    toolCallId: callId,
    content,
    role: 'tool',
  });

  /** Whatever is half said when the run is over. */
  end(): AgUiEvent[] {
    return [...this.#thought(), ...this.#end()];
  }

  #say(text: string): AgUiEvent[] {
    if (text === '') return [];
    const begin = this.#open === undefined;
    const messageId = (this.#open ??= newId());
    this.#said += text;
    return [
      ...this.#thought(),
      ...(begin ? [{ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }] : []),
      { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: text },
    ];
  }

  #end(): AgUiEvent[] {
    const messageId = this.#open;
    this.#open = undefined;
    this.#said = '';
    return messageId === undefined ? [] : [{ type: 'TEXT_MESSAGE_END', messageId }];
  }
}

function callEvents({ callId, tool: toolCallName, args }: CallRecord, parentMessageId: string | undefined) {
  const toolCallId = callId;
  return [
    { type: 'TOOL_CALL_START', toolCallId, toolCallName, ...(parentMessageId !== undefined && { parentMessageId }) },
    ...(args === '' ? [] : [{ type: 'TOOL_CALL_ARGS', toolCallId, delta: args }]),
    { type: 'TOOL_CALL_END', toolCallId },
  ];
}

/** A stored conversation as messages. */
export const snapshot = (events: readonly SessionEvent[], threadId: string): AgUiEvent => ({
  type: 'MESSAGES_SNAPSHOT',
  messages: events.flatMap((event): object[] => {
    const id = `${threadId}:${event.seq}`;
    if (event.type === 'user') return [{ id, role: 'user', content: event.content }];
    if (event.type === 'imported') return [{ id, role: event.role, content: event.content }];
    if (event.type === 'tool_result') return [{ id, role: 'tool', toolCallId: event.callId, content: event.content }];
    if (event.type !== 'assistant') return [];
    const toolCalls = event.toolCalls.map((call) => ({
      id: call.callId,
      type: 'function',
      function: { name: call.tool, arguments: call.args },
    }));
    return [{ id, role: 'assistant', content: event.content, ...(toolCalls.length > 0 && { toolCalls }) }];
  }),
});

export const usageOf = ({ model, provider, tokens }: SessionEvent & { type: 'assistant' }) => ({
  model,
  ...(provider !== undefined && { provider }),
  ...(tokens && {
    inputTokens: tokens.in,
    outputTokens: tokens.out,
    totalTokens: tokens.in + tokens.out,
    ...(tokens.cached !== undefined && { cachedInputTokens: tokens.cached }),
  }),
});
