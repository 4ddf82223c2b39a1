import { AppError, newId } from '@troupe/kernel';
import { z } from 'zod';
import type { Answer, LiveEvent } from '../agent.ts';
import { keyFor } from './rights.ts';
import { openEventStream, readJson, sendJson, type Exchange } from './exchange.ts';

/**
 * The agent as a model: any OpenAI client can talk to it. Without a session the messages are the whole conversation; with
 * one (`user` in the body, or the header x-session-key) the agent has the history and the last message is the input.
 */

const part = z.looseObject({ type: z.string(), text: z.string().optional() });
const message = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), z.array(part), z.null()]).optional(),
});
const bodySchema = z.looseObject({
  messages: z.array(message, 'Messages array is required').min(1, 'Messages array is required'),
  model: z.string().max(200).optional(),
  stream: z.boolean().optional(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  user: z.string().max(200).optional(),
});
type Body = z.output<typeof bodySchema>;

const textOf = ({ content }: Body['messages'][number]): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('');

export async function chatCompletions(exchange: Exchange): Promise<void> {
  const body = await readJson(exchange, bodySchema);
  const last = body.messages.at(-1);
  if (last?.role !== 'user' || textOf(last).trim() === '')
    throw new AppError(400, 'The last message must be from the user');
  const given = exchange.request.headers['x-session-key'];
  const key = (typeof given === 'string' ? given : undefined) ?? body.user;
  const history = key === undefined ? body.messages.slice(0, -1).flatMap(imported) : [];
  const input = {
    to: { channel: 'api', key: keyFor(exchange.principal, key ?? newId()) },
    content: textOf(last),
    history,
    from: exchange.principal.kind,
  };
  const head = {
    id: `chatcmpl-${newId()}`,
    created: Math.floor(Date.now() / 1000),
    model: body.model ?? exchange.agent.id,
  };
  if (body.stream) return streamAnswer(exchange, input, head, body.stream_options?.include_usage === true);
  const answer = await exchange.agent.ask(input);
  if (answer.outcome === 'failed') throw failure(answer);
  exchange.response.setHeader('x-session-id', answer.sessionId);
  sendJson(exchange, {
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: answer.reply }, finish_reason: finish(answer) }],
    usage: usage(answer),
  });
}

const failure = ({ reason = 'The model did not answer', refusal }: Answer): AppError =>
  refusal ? new AppError(429, reason, refusal) : new AppError(502, reason);

/** Results of tools belong to calls that this agent did not make: they are left out. */
function imported(one: Body['messages'][number]) {
  const role = one.role === 'developer' ? 'system' : one.role;
  const content = textOf(one);
  return role === 'tool' || content === '' ? [] : [{ role, content }];
}

const finish = ({ outcome }: Answer): string => (outcome === 'limit' || outcome === 'loop' ? 'length' : 'stop');

/** The agent counts tokens of all its model calls together. */
const usage = ({ spent }: Answer) => ({
  prompt_tokens: spent.tokens,
  completion_tokens: 0,
  total_tokens: spent.tokens,
});

async function streamAnswer(
  exchange: Exchange,
  input: Parameters<Exchange['agent']['ask']>[0],
  head: { id: string; created: number; model: string },
  includeUsage: boolean,
): Promise<void> {
  const stream = openEventStream(exchange);
  const chunk = (delta: object, finishReason: string | null = null) => ({
    data: { ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finishReason }] },
  });
  let said = '';
  const listener = (live: LiveEvent): void => {
    if (live.kind !== 'delta') return;
    said += live.text;
    void stream.send(chunk({ content: live.text }));
  };
  await stream.send(chunk({ role: 'assistant', content: '' }));
  try {
    const answer = await exchange.agent.ask(input, listener);
    if (answer.outcome === 'failed') await stream.send({ data: failure(answer).body });
    else {
      // What was not streamed: sentences of the agent's own, or an answer that another process wrote.
      const rest = answer.reply.startsWith(said)
        ? answer.reply.slice(said.length)
        : said.endsWith(answer.reply)
          ? ''
          : answer.reply;
      if (rest) await stream.send(chunk({ content: rest }));
      await stream.send(chunk({}, finish(answer)));
      if (includeUsage)
        await stream.send({ data: { ...head, object: 'chat.completion.chunk', choices: [], usage: usage(answer) } });
    }
  } catch (error) {
    exchange.deps.log.error({ err: error, agentId: exchange.agent.id }, 'streamed answer broke off');
    await stream.send({ data: { error: error instanceof AppError ? error.message : 'Internal server error' } });
  }
  await stream.send({ data: '[DONE]' });
  stream.end();
}
