import type { AssistantMessage, ChatRequest, ChatUsage } from './types.ts';

/** About four characters a token: only for providers that do not count. */
const estimate = (characters: number): number => Math.ceil(characters / 4);

export function estimateUsage(request: ChatRequest, answerCharacters: number): ChatUsage {
  const prompt = estimate(JSON.stringify(request.messages).length);
  const completion = estimate(answerCharacters);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

export const answerLength = ({ content, tool_calls: calls = [] }: AssistantMessage): number =>
  calls.reduce((sum, call) => sum + call.function.name.length + call.function.arguments.length, content?.length ?? 0);

/** Room for what a provider adds to each message and for the picture behind a link. */
const MESSAGE_OVERHEAD = 16;
const LINKED_IMAGE = 3_000;

/** No tokenizer makes more tokens than there are bytes, so this is an upper bound. */
export function maxPromptTokens(request: ChatRequest): number {
  let tokens = Buffer.byteLength(JSON.stringify(request.messages)) + request.messages.length * MESSAGE_OVERHEAD;
  if (request.tools) tokens += Buffer.byteLength(JSON.stringify(request.tools)) + 512;
  for (const { content } of request.messages) {
    if (Array.isArray(content)) tokens += content.filter((part) => part.type === 'image_url').length * LINKED_IMAGE;
  }
  return tokens;
}
