import type { AssistantMessage, ChatMessage, ChatRequest, ChatUsage } from './types.ts';

/** About four bytes a token, in every script: only for providers that do not count. */
export const estimateTokens = (bytes: number): number => Math.ceil(bytes / 4);
const ESTIMATED_IMAGE = 1_000;

export const sizeOf = (text: string | null | undefined): number => (text ? Buffer.byteLength(text) : 0);

export function estimateUsage(request: ChatRequest, answerBytes: number): ChatUsage {
  const { size, images } = measure(request.messages);
  const prompt = estimateTokens(size + sizeOf(besideMessages(request))) + images * ESTIMATED_IMAGE;
  // A provider that was given a limit charges for no more, whatever it sent.
  const completion = Math.min(estimateTokens(answerBytes), request.max_tokens ?? Infinity);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

export const answerSize = ({ content, tool_calls: calls = [], thoughts = [] }: AssistantMessage): number =>
  calls.reduce((sum, { function: called }) => sum + sizeOf(called.name) + sizeOf(called.arguments), sizeOf(content)) +
  thoughts.reduce((sum, { text }) => sum + sizeOf(text), 0);

/** Room for what a provider adds to a request, to each message and around tools. */
const REQUEST_OVERHEAD = 128;
const MESSAGE_OVERHEAD = 32;
const TOOLS_OVERHEAD = 512;
/** The dearest that any provider counts a picture. */
const MAX_IMAGE = 50_000;

/** No tokenizer makes more tokens than there are bytes, so this is an upper bound. */
export function maxPromptTokens(request: ChatRequest): number {
  const { messages, tools } = request;
  const { size, images } = measure(messages);
  const overhead = REQUEST_OVERHEAD + messages.length * MESSAGE_OVERHEAD + (tools ? TOOLS_OVERHEAD : 0);
  return overhead + size + sizeOf(besideMessages(request)) + images * MAX_IMAGE;
}

/** What a model reads, and a provider counts, beside the messages: tools, and the schema that the answer has to follow. */
const besideMessages = ({ tools, response_format: format }: ChatRequest): string =>
  (tools ? JSON.stringify(tools) : '') + (format ? JSON.stringify(format) : '');

function measure(messages: ChatMessage[]): { size: number; images: number } {
  let size = 0;
  let images = 0;
  for (const message of messages) {
    const { content } = message;
    if (typeof content === 'string') size += sizeOf(content);
    for (const part of Array.isArray(content) ? content : []) {
      if (part.type === 'text') size += sizeOf(part.text);
      else images += 1;
      // What a file comes to grows with it; a picture is scaled down.
      if (part.type === 'file') size += sizeOf(part.file.file_data);
    }
    if (message.role === 'assistant')
      for (const { text, signature, redacted } of message.thoughts ?? [])
        size += sizeOf(text) + sizeOf(signature) + sizeOf(redacted);
    if (message.role === 'tool') size += sizeOf(message.tool_call_id);
    if (message.role === 'assistant' && message.tool_calls) size += sizeOf(JSON.stringify(message.tool_calls));
  }
  return { size, images };
}
