import { randomUUID } from 'node:crypto';
import { domainAllowed, type A2aAgent } from '@troupe/domain';
import { OutboundError, parseAnswer, type Outbound } from '@troupe/kernel';
import { z } from 'zod';
import { failed, tool, type Tool, type ToolContext, type ToolResult } from './tool.ts';

/** Agents elsewhere that the definition names: a message goes out over A2A, the answer is the result. */

const MAX_BYTES = 1024 * 1024;
/** Lists, objects and fields of an answer, each of which is checked. */
const MAX_PARTS = 20_000;
const MAX_CHARACTERS = 40_000;
const TIMEOUT_MS = 300_000;
const ARGS = { send: z.object({ message: z.string().min(1).max(100_000) }) };

const parts = z.array(z.looseObject({ text: z.string().optional() })).default([]);
const message = z.looseObject({ parts });
const said = z.looseObject({
  parts: parts.optional(),
  artifacts: z.array(z.looseObject({ parts })).optional(),
  status: z.looseObject({ state: z.string().optional(), message: message.nullish() }).optional(),
});
const reply = z.looseObject({
  result: said.extend({ task: said.optional(), message: message.optional() }).optional(),
  error: z.looseObject({ message: z.string().optional() }).optional(),
});

export const a2aTools = (agents: readonly A2aAgent[], outbound: Outbound): Tool[] =>
  agents.map(({ name, url, headers }) =>
    tool({
      name: `ask_${name}`,
      toolset: 'a2a',
      description: `Send a message to the agent ${name} at ${new URL(url).host}, and get its answer.`,
      args: ARGS.send,
      repeatable: false,
      run: ({ message: text }, context) => send({ url, headers: headers ?? {} }, text, context, outbound),
    }),
  );

async function send(
  { url, headers }: { url: string; headers: Record<string, string> },
  text: string,
  { signal, definition, sessionId }: ToolContext,
  outbound: Outbound,
): Promise<ToolResult> {
  const { hostname } = new URL(url);
  const { allowedDomains } = definition.config.safety;
  if (allowedDomains.length > 0 && !domainAllowed(hostname, allowedDomains))
    return failed(`The owner does not allow ${hostname}.`);
  const params = {
    message: {
      kind: 'message',
      role: 'user',
      messageId: randomUUID(),
      contextId: sessionId,
      parts: [{ kind: 'text', text }],
    },
  };
  try {
    const response = await outbound.fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params }),
      signal,
      timeout: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      redirects: 0,
    });
    return answerIn(response.status, await response.text());
  } catch (error) {
    if (error instanceof OutboundError) return failed(error.message);
    throw error;
  }
}

function answerIn(status: number, body: string): ToolResult {
  let raw: unknown;
  try {
    raw = parseAnswer(body, MAX_PARTS);
  } catch {
    return failed(`The agent answered ${status}, and not in JSON.`);
  }
  const parsed = reply.safeParse(raw);
  if (!parsed.success || (!parsed.data.result && !parsed.data.error))
    return failed(`The agent answered ${status}, and not as A2A says.`);
  const { result, error } = parsed.data;
  if (!result) return failed(`The agent refused: ${(error?.message ?? 'no reason').slice(0, 1000)}`);
  const task = result.task ?? result;
  const state = task.status;
  const spoken = result.message?.parts ?? task.parts ?? [];
  const all = [...spoken, ...(task.artifacts ?? []).flatMap((one) => one.parts)];
  const texts = (all.length > 0 ? all : (state?.message?.parts ?? [])).flatMap((part) => part.text ?? []);
  const content = texts.join('\n').slice(0, MAX_CHARACTERS) || `(no text; state ${state?.state ?? 'unknown'})`;
  return /fail|reject/i.test(state?.state ?? '') ? failed(content) : { content };
}
