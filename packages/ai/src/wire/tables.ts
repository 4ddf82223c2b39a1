import type { Effort, FinishReason } from '../types.ts';

/** What the formats call the same thing by different names. One row a thing; everybody looks it up here. */

interface StopRow {
  chat: FinishReason;
  messages: string;
  /** Undefined: the response is complete. */
  responses: string | undefined;
}

/** The first row of a name is what it is translated to. */
const STOPS: readonly StopRow[] = [
  { chat: 'stop', messages: 'end_turn', responses: undefined },
  { chat: 'tool_calls', messages: 'tool_use', responses: undefined },
  { chat: 'length', messages: 'max_tokens', responses: 'max_output_tokens' },
  { chat: 'content_filter', messages: 'refusal', responses: 'content_filter' },
  { chat: 'length', messages: 'model_context_window_exceeded', responses: 'max_output_tokens' },
  { chat: 'stop', messages: 'stop_sequence', responses: undefined },
  { chat: 'stop', messages: 'pause_turn', responses: undefined },
];

const firstBy = <K extends keyof StopRow>(key: K): Map<StopRow[K], StopRow> =>
  new Map(STOPS.toReversed().map((row) => [row[key], row]));

const BY_CHAT = firstBy('chat');
const BY_MESSAGES = firstBy('messages');

export const messagesStop = (reason: FinishReason): string => BY_CHAT.get(reason)!.messages;
export const incompleteReason = (reason: FinishReason): string | undefined => BY_CHAT.get(reason)!.responses;
export const stopOfMessages = (given: unknown): FinishReason => BY_MESSAGES.get(String(given))?.chat ?? 'stop';

/** Words for how much to think, and the tokens that formats with a number get for them. */
const EFFORTS: readonly (readonly [Effort, number])[] = [
  ['none', 0],
  ['minimal', 1_024],
  ['low', 2_048],
  ['medium', 8_192],
  ['high', 16_384],
  ['xhigh', 32_768],
  ['max', 65_536],
];

export const budgetOf = (effort: Effort): number => EFFORTS.find(([word]) => word === effort)![1];

/** The word whose number is the next above; what is beyond all of them is `high`, which every provider knows. */
export const effortOf = (tokens: number): Effort =>
  EFFORTS.slice(1, 5).find(([, budget]) => tokens <= budget)?.[0] ?? 'high';
