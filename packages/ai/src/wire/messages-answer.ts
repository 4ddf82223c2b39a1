import { shapedError } from '@troupe/contract';
import type { ChatResult, ChatUsage } from '../types.ts';
import { messagesStop } from './tables.ts';

/** What an answer of Anthropic's messages has, whole or streamed. */

export const messageId = (id: string): string => id.replace(/^chatcmpl-/, 'msg_');

/** What was read from or written to the cache is told apart from the other input. */
export function messagesUsage({
  prompt_tokens: prompt,
  completion_tokens: output,
  prompt_tokens_details: cache,
}: ChatUsage) {
  const [read, written] = [cache?.cached_tokens ?? 0, cache?.cache_write_tokens ?? 0];
  return {
    input_tokens: prompt - read - written,
    output_tokens: output,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
  };
}

/** A model may write what is no JSON: the format has only objects. */
export function inputOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text || '{}');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { value };
  } catch {
    return { unparsed: text };
  }
}

export const stopOf = ({ finishReason, stopSequence }: Pick<ChatResult, 'finishReason' | 'stopSequence'>) => ({
  stop_reason: stopSequence === undefined ? messagesStop(finishReason) : 'stop_sequence',
  stop_sequence: stopSequence ?? null,
});

/** Who said why it does not answer has come to its end by that. */
export const endOf = <R extends Pick<ChatResult, 'finishReason'>>(result: R, refused: boolean): R =>
  refused && result.finishReason === 'stop' ? { ...result, finishReason: 'content_filter' } : result;

export const messagesError = (status: number, message: string, more: object = {}): Record<string, unknown> =>
  shapedError('anthropic', status, { ...more, error: message });
