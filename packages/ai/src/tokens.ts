import type { AssistantMessage, ChatMessage, ChatRequest, ChatUsage } from './types.ts';

/** About four characters a token: only for providers that do not count. */
const estimate = (characters: number): number => Math.ceil(characters / 4);
const ESTIMATED_IMAGE = 1_000;

export function estimateUsage(request: ChatRequest, answerCharacters: number): ChatUsage {
  const { size, images } = measure(request.messages, (text) => text.length);
  const prompt = estimate(size + besideMessages(request).length) + images * ESTIMATED_IMAGE;
  const completion = estimate(answerCharacters);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

export const answerLength = ({ content, tool_calls: calls = [] }: AssistantMessage): number =>
  calls.reduce((sum, call) => sum + call.function.name.length + call.function.arguments.length, content?.length ?? 0);

/** Room for what a provider adds to a request, to each message and around tools. */
const REQUEST_OVERHEAD = 128;
const MESSAGE_OVERHEAD = 32;
const TOOLS_OVERHEAD = 512;
/** The dearest that any provider counts a picture. */
const MAX_IMAGE = 50_000;

/** No tokenizer makes more tokens than there are bytes, so this is an upper bound. */
export function maxPromptTokens(request: ChatRequest): number {
  const { messages, tools } = request;
  const { size, images } = measure(messages, (text) => Buffer.byteLength(text));
  const overhead = REQUEST_OVERHEAD + messages.length * MESSAGE_OVERHEAD + (tools ? TOOLS_OVERHEAD : 0);
  return overhead + size + Buffer.byteLength(besideMessages(request)) + images * MAX_IMAGE;
}

/** What a model reads, and a provider counts, beside the messages: tools, and the schema that the answer has to follow. */
const besideMessages = ({ tools, response_format: format }: ChatRequest): string =>
  (tools ? JSON.stringify(tools) : '') + (format ? JSON.stringify(format) : '');

function measure(messages: ChatMessage[], sizeOf: (text: string) => number): { size: number; images: number } {
  let size = 0;
  let images = 0;
  for (const message of messages) {
    const { content } = message;
    if (typeof content === 'string') size += sizeOf(content);
    for (const part of Array.isArray(content) ? content : []) {
      if (part.type === 'text') size += sizeOf(part.text);
      else images += 1;
    }
    if (message.role === 'tool') size += sizeOf(message.tool_call_id);
    if (message.role === 'assistant' && message.tool_calls) size += sizeOf(JSON.stringify(message.tool_calls));
  }
  return { size, images };
}
