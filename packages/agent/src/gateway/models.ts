import {
  chatFace,
  messagesFace,
  responsesFace,
  type ChatMessage,
  type ChatRequest,
  type ChatResult,
  type Face,
  type Failure,
  type UserMessage,
} from '@troupe/ai';
import { backend, validationMessage, type Endpoint } from '@troupe/contract';
import { answerable, AppError, newId } from '@troupe/kernel';
import { z } from 'zod';
import type { Answer, Input, LiveEvent } from '../agent.ts';
import type { Wishes } from '../session/events.ts';
import { keyFor, owns } from './rights.ts';
import { bring, givenIn, type Given } from './brought.ts';
import { askUntilStopped } from './handover.ts';
import { inPieces, openEventStream, readLargeJson, sendJson, type Exchange } from './exchange.ts';

/**
 * The agent as a model, in each protocol that the platform itself speaks. Without a session the messages are the whole
 * conversation; with one (`user` in a chat's body, or the header x-session-key) the agent has the history and the last
 * message is the input. Tools of the caller's are called back: the answer asks for them, and the next request brings
 * their results, by whose ids the run is found that waits for them.
 */

/** Who the conversation is kept for. Made once: a schema costs more to make than to use. */
const NAMED = z.looseObject({ user: z.string().max(200).nullish().catch(undefined) });

const speaker =
  <Body>(face: Face<Body>, endpoint: Endpoint) =>
  async (exchange: Exchange): Promise<void> => {
    const raw = await readLargeJson(exchange, NAMED);
    const parsed = endpoint.body!.safeParse(raw);
    if (!parsed.success) throw new AppError(400, validationMessage(parsed.error, 'body'));
    const body = parsed.data as Body;
    const request = face.request(body);
    const input = await inputOf(exchange, request, raw.user ?? undefined);
    const head = { id: `chatcmpl-${newId()}`, model: request.model ?? exchange.agent.id, provider: 'agent' };
    const context = { body, created: Math.floor(Date.now() / 1000) };
    if (face.wantsStream(body)) return streamAnswer(exchange, input, head, face.writer(context));
    const thoughts = createThoughts();
    const answer = await askUntilStopped(exchange.agent, { ...input, onThought: thoughts.add }, exchange.deps);
    if (answer.outcome === 'failed') throw failure(answer);
    exchange.response.setHeader('x-session-id', answer.sessionId);
    sendJson(exchange, face.reply(resultOf(answer, head, thoughts.all()), context));
  };

export const speakChat = speaker(chatFace, backend.v1.completeChat);
export const speakMessages = speaker(messagesFace, backend.v1.createMessage);
export const speakResponses = speaker(responsesFace, backend.v1.createResponse);

/** What goes on to the model as it is. */
const WISHES = [
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning',
  'temperature',
  'top_p',
  'max_tokens',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'top_k',
  'prompt_cache_key',
  'verbosity',
] as const satisfies (keyof Wishes)[];

async function inputOf(exchange: Exchange, request: ChatRequest, user: string | undefined): Promise<Input> {
  const { messages } = request;
  const last = messages.at(-1);
  const results = await resultsOf(exchange, messages);
  const said = last?.role === 'user' ? [last] : [];
  const content = said.map(wordsOf).join('');
  const named = exchange.request.headers['x-session-key'];
  const key = (typeof named === 'string' ? named : undefined) ?? user;
  const before = results || key !== undefined ? [] : messages.slice(0, -1);
  const given = said.flatMap(filesIn);
  if (content.trim() === '' && given.length === 0 && !results)
    throw new AppError(400, 'The last message must be from the user');
  const attachments = await bring(exchange, given, before.flatMap(filesIn));
  const wishes = Object.fromEntries(
    WISHES.flatMap((name) => (request[name] === undefined ? [] : [[name, request[name]]])),
  );
  const shared = {
    content,
    from: exchange.principal.kind,
    ...(Object.keys(wishes).length > 0 && { wishes }),
    ...(attachments.length > 0 && { attachments }),
  };
  if (results) return { ...shared, ...results };
  return {
    ...shared,
    to: { channel: 'api', key: keyFor(exchange.principal, key ?? newId()) },
    history: imported(before),
  };
}

/** Names both the run that waits and the call. */
const callName = (sessionId: string, callId: string): string => `call_${sessionId}_${callId}`;
const CALL = /^call_([^_]+)_([^_]+)$/;

/** Results of calls that a run of this agent waits for; undefined: none are given. */
async function resultsOf(
  { agent, principal }: Exchange,
  messages: readonly ChatMessage[],
): Promise<Pick<Input, 'to' | 'results' | 'inputId'> | undefined> {
  const after = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
  const given = after.filter((message) => message.role === 'tool');
  if (given.length === 0) return undefined;
  const named = given.map((message) => ({ message, found: CALL.exec(message.tool_call_id) }));
  const sessionId = named[0]?.found?.[1] ?? '';
  const session = await agent.store.session(sessionId);
  const open = session && owns(principal, session) ? await agent.openCalls(sessionId) : [];
  const results = named.map(({ message, found }) => {
    const call = found?.[1] === sessionId ? open.find(({ callId }) => callId === found[2]) : undefined;
    if (!call) throw new AppError(400, `No run of this agent waits for the result of ${message.tool_call_id}`);
    return { callId: call.callId, tool: call.tool, content: textOf(message) };
  });
  return { to: { id: sessionId }, results, inputId: `results:${results.map(({ callId }) => callId).join()}` };
}

/** Pictures and files of a person's words; `textOf` refuses those of others. */
const filesIn = (message: ChatMessage): Given[] =>
  message.role === 'user' && typeof message.content !== 'string'
    ? message.content.flatMap((part) => givenIn(part) ?? [])
    : [];

const wordsOf = ({ content }: UserMessage): string =>
  typeof content === 'string' ? content : content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');

function textOf({ content }: Exclude<ChatMessage, UserMessage>): string {
  if (typeof content === 'string') return content;
  return (content ?? [])
    .map((part) => {
      if (part.type === 'text') return part.text;
      throw new AppError(400, `What is no file of a person’s is text here: leave out the part of type ${part.type}`);
    })
    .join('');
}

type Imported = NonNullable<Input['history']>[number];

/** Calls and results of tools are told in words: they were made elsewhere. */
function imported(messages: readonly ChatMessage[]): Imported[] {
  return messages.flatMap((message): Imported[] => {
    if (message.role === 'user') {
      const named = filesIn(message).map(({ name }) => `[attached: ${name}]`);
      const words = [wordsOf(message), ...named].filter(Boolean).join('\n');
      return words === '' ? [] : [{ role: 'user', content: words }];
    }
    const content = textOf(message);
    if (message.role === 'tool') return [{ role: 'user', content: `[A tool answered: ${content}]` }];
    const role = message.role === 'developer' ? 'system' : message.role;
    const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : [];
    const called = calls.map(({ function: { name, arguments: args } }) => `[Called ${name} with ${args}]`);
    const words = [content, ...called].filter(Boolean).join('\n');
    return words === '' ? [] : [{ role, content: words }];
  });
}

/** That there is no money, or that a provider is asked too often, is for the caller to act on. */
function failure({ reason = 'The model did not answer', refusal, busy }: Answer): AppError {
  if (refusal) return new AppError(429, reason, refusal);
  if (!busy) return new AppError(502, reason);
  const headers: Record<string, string> =
    busy.retryAfter === undefined ? {} : { 'retry-after': String(busy.retryAfter) };
  return new AppError(429, reason, {}, { headers });
}

const MAX_THOUGHTS = 256 * 1024;

/** What was thought on the way to the answer, as far as somebody may want to read it. */
function createThoughts() {
  let said = '';
  return {
    add: (text: string): void => {
      if (said.length < MAX_THOUGHTS) said += text;
    },
    all: (): string => said,
  };
}

const toolCalls = ({ sessionId, calls = [] }: Answer) =>
  calls.map(({ callId, tool, args }) => ({
    id: callName(sessionId, callId),
    type: 'function' as const,
    function: { name: tool, arguments: args },
  }));

type Head = Pick<ChatResult, 'id' | 'model' | 'provider'>;

const finishOf = ({ outcome }: Answer): ChatResult['finishReason'] => {
  if (outcome === 'calls') return 'tool_calls';
  return outcome === 'limit' || outcome === 'loop' ? 'length' : 'stop';
};

/** Of all model calls that the answer took. */
function usageOf({ spent }: Answer): ChatResult['usage'] {
  const { tokens, outputTokens = 0, cachedTokens, thoughtTokens } = spent;
  return {
    prompt_tokens: tokens - outputTokens,
    completion_tokens: outputTokens,
    total_tokens: tokens,
    ...(cachedTokens !== undefined && { prompt_tokens_details: { cached_tokens: cachedTokens } }),
    ...(thoughtTokens !== undefined && { completion_tokens_details: { reasoning_tokens: thoughtTokens } }),
  };
}

function resultOf(answer: Answer, head: Head, thoughts: string): ChatResult {
  const calls = toolCalls(answer);
  return {
    ...head,
    message: {
      role: 'assistant',
      content: calls.length > 0 ? answer.reply || null : answer.reply,
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(thoughts !== '' && { thoughts: [{ text: thoughts }] }),
    },
    finishReason: finishOf(answer),
    usage: usageOf(answer),
    usageEstimated: false,
    costMicros: answer.spent.costMicros,
  };
}

async function streamAnswer(
  exchange: Exchange,
  input: Input,
  head: Head,
  writer: ReturnType<Face<unknown>['writer']>,
): Promise<void> {
  const stream = openEventStream(exchange);
  const pieces = inPieces(stream, (content) => writer.write([{ ...head, content }]));
  let said = '';
  // After words a thought is another one.
  let index = 0;
  const mind = inPieces(stream, (text) => writer.write([{ ...head, thoughts: [{ index, text }] }]));
  const listener = (live: LiveEvent): void => {
    if (live.kind !== 'delta') return;
    said += live.text;
    index += 1;
    pieces.add(live.text);
  };
  await stream.write(writer.write([{ ...head, content: '' }]));
  try {
    const answer = await askUntilStopped(
      exchange.agent,
      { ...input, onThought: mind.add },
      { ...exchange.deps, listener },
    );
    await Promise.all([pieces.end(), mind.end()]);
    if (answer.outcome === 'failed') throw failure(answer);
    // What was not streamed: sentences of the agent's own, or an answer that another process wrote.
    const isSaid = said.endsWith(answer.reply);
    const rest = answer.reply.startsWith(said) ? answer.reply.slice(said.length) : isSaid ? '' : answer.reply;
    const calls = toolCalls(answer).map((call, index) => ({ index, ...call }));
    await stream.write(
      writer.write([
        ...(rest ? [{ ...head, content: rest }] : []),
        ...(calls.length > 0 ? [{ ...head, toolCalls: calls }] : []),
        { ...head, finishReason: finishOf(answer), usage: usageOf(answer) },
      ]),
    );
  } catch (error) {
    if (!(error instanceof AppError))
      exchange.deps.log.error({ err: error, agentId: exchange.agent.id }, 'streamed answer broke off');
    await Promise.all([pieces.end(), mind.end()]);
    await stream.write(writer.fail(failureOf(error)));
  }
  stream.end();
}

function failureOf(error: unknown): Failure {
  const known = answerable(error);
  if (!known) return { status: 500, message: 'Internal server error' };
  return { status: known.status, message: known.message, more: known.extra };
}
