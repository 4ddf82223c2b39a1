import type { ChatDelta, ThoughtDelta, ToolCallDelta } from '../types.ts';
import type { StreamWriter } from './face.ts';
import { endOf, messageId, messagesError, messagesUsage, stopOf } from './messages-answer.ts';

const event = (type: string, data: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

/** A block that cannot begin yet, because another is open. */
interface Waiting {
  start: object;
  deltas: object[];
}

/**
 * Blocks follow each other in this format, while the pieces of calls made together may be mixed: as soon as a call is
 * open, everything else waits for the end of the answer.
 */
class MessagesWriter implements StreamWriter {
  #begun = false;
  #refused = false;
  #index = -1;
  /** What is open: `text`, `thought 0`, `sealed 0`, `call 0`. */
  #open = '';
  readonly #later = new Map<string, Waiting>();

  write(deltas: readonly ChatDelta[]): string {
    let text = '';
    for (const each of deltas) text += this.#one(each);
    return text;
  }

  fail({ status, message, more }: Parameters<StreamWriter['fail']>[0]): string {
    return `event: error\ndata: ${JSON.stringify(messagesError(status, message, more))}\n\n`;
  }

  #delta(data: object): string {
    return event('content_block_delta', { index: this.#index, delta: data });
  }

  #close(): string {
    if (this.#open === '') return '';
    this.#open = '';
    return event('content_block_stop', { index: this.#index });
  }

  #piece(kind: string, start: () => object, ...deltas: object[]): string {
    if (this.#open.startsWith('call') && kind !== this.#open) {
      const waiting = this.#later.get(kind) ?? { start: start(), deltas: [] };
      this.#later.set(kind, waiting);
      waiting.deltas.push(...deltas);
      return '';
    }
    let text = '';
    if (kind !== this.#open) {
      text = this.#close();
      this.#index += 1;
      this.#open = kind;
      text += event('content_block_start', { index: this.#index, content_block: start() });
    }
    return text + deltas.map((data) => this.#delta(data)).join('');
  }

  #rest(): string {
    let text = this.#close();
    for (const { start, deltas } of this.#later.values()) {
      this.#index += 1;
      text += event('content_block_start', { index: this.#index, content_block: start });
      text += deltas.map((data) => this.#delta(data)).join('') + event('content_block_stop', { index: this.#index });
    }
    this.#later.clear();
    return text;
  }

  #call({ index: place, id, function: part }: ToolCallDelta): string {
    return this.#piece(
      `call ${place}`,
      () => ({ type: 'tool_use', id: id ?? `call_${place}`, name: part?.name ?? '', input: {} }),
      ...(part?.arguments ? [{ type: 'input_json_delta', partial_json: part.arguments }] : []),
    );
  }

  #thought({ index: place, text, signature, redacted }: ThoughtDelta): string {
    // A provider may say both of one thought: what can be read, and what it wants to see again.
    if (redacted !== undefined)
      return this.#piece(`sealed ${place}`, () => ({ type: 'redacted_thinking', data: redacted }));
    return this.#piece(
      `thought ${place}`,
      () => ({ type: 'thinking', thinking: '', signature: '' }),
      ...(text ? [{ type: 'thinking_delta', thinking: text }] : []),
      ...(signature ? [{ type: 'signature_delta', signature }] : []),
    );
  }

  #one(given: ChatDelta): string {
    const { id, model, content, toolCalls, thoughts, finishReason, stopSequence, usage } = given;
    let text = '';
    if (!this.#begun) {
      this.#begun = true;
      const head = { id: messageId(id), type: 'message', role: 'assistant', model, content: [] };
      text += event('message_start', {
        message: { ...head, stop_reason: null, stop_sequence: null, usage: { input_tokens: 0, output_tokens: 0 } },
      });
    }
    this.#refused ||= given.refused === true;
    for (const each of thoughts ?? []) text += this.#thought(each);
    if (content) text += this.#piece('text', () => ({ type: 'text', text: '' }), { type: 'text_delta', text: content });
    for (const each of toolCalls ?? []) text += this.#call(each);
    if (!finishReason) return text;
    text += this.#rest();
    text += event('message_delta', {
      delta: stopOf(endOf({ finishReason, stopSequence }, this.#refused)),
      ...(usage ? { usage: messagesUsage(usage) } : {}),
    });
    return text + event('message_stop', {});
  }
}

export const messagesWriter = (): StreamWriter => new MessagesWriter();
