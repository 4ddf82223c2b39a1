import type { ChatDelta, ThoughtDelta, ToolCallDelta } from '../types.ts';
import type { StreamWriter } from './face.ts';
import { messageId, messagesError, messagesUsage, stopOf } from './messages-answer.ts';

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
export function messagesWriter(): StreamWriter {
  let begun = false;
  let index = -1;
  /** What is open: `text`, `thought 0`, `call 0`. */
  let open = '';
  const later = new Map<string, Waiting>();

  const delta = (data: object): string => event('content_block_delta', { index, delta: data });

  function close(): string {
    if (open === '') return '';
    open = '';
    return event('content_block_stop', { index });
  }

  function piece(kind: string, start: () => object, ...deltas: object[]): string {
    if (open.startsWith('call') && kind !== open) {
      const waiting = later.get(kind) ?? { start: start(), deltas: [] };
      later.set(kind, waiting);
      waiting.deltas.push(...deltas);
      return '';
    }
    let text = '';
    if (kind !== open) {
      text = close();
      index += 1;
      open = kind;
      text += event('content_block_start', { index, content_block: start() });
    }
    return text + deltas.map(delta).join('');
  }

  function rest(): string {
    let text = close();
    for (const { start, deltas } of later.values()) {
      index += 1;
      text += event('content_block_start', { index, content_block: start });
      text += deltas.map(delta).join('') + event('content_block_stop', { index });
    }
    later.clear();
    return text;
  }

  const call = ({ index: place, id, function: part }: ToolCallDelta): string =>
    piece(
      `call ${place}`,
      () => ({ type: 'tool_use', id: id ?? `call_${place}`, name: part?.name ?? '', input: {} }),
      ...(part?.arguments ? [{ type: 'input_json_delta', partial_json: part.arguments }] : []),
    );

  function thought({ index: place, text, signature, redacted }: ThoughtDelta): string {
    const kind = `thought ${place}`;
    if (redacted !== undefined) return piece(kind, () => ({ type: 'redacted_thinking', data: redacted }));
    return piece(
      kind,
      () => ({ type: 'thinking', thinking: '', signature: '' }),
      ...(text ? [{ type: 'thinking_delta', thinking: text }] : []),
      ...(signature ? [{ type: 'signature_delta', signature }] : []),
    );
  }

  function one(given: ChatDelta): string {
    const { id, model, content, toolCalls, thoughts, finishReason, stopSequence, usage } = given;
    let text = '';
    if (!begun) {
      begun = true;
      const head = { id: messageId(id), type: 'message', role: 'assistant', model, content: [] };
      text += event('message_start', {
        message: { ...head, stop_reason: null, stop_sequence: null, usage: { input_tokens: 0, output_tokens: 0 } },
      });
    }
    for (const each of thoughts ?? []) text += thought(each);
    if (content) text += piece('text', () => ({ type: 'text', text: '' }), { type: 'text_delta', text: content });
    for (const each of toolCalls ?? []) text += call(each);
    if (!finishReason) return text;
    text += rest();
    text += event('message_delta', {
      delta: stopOf({ finishReason, stopSequence }),
      ...(usage ? { usage: messagesUsage(usage) } : {}),
    });
    return text + event('message_stop', {});
  }

  return {
    write(deltas) {
      let text = '';
      for (const each of deltas) text += one(each);
      return text;
    },
    fail: ({ status, message, more }) =>
      `event: error\ndata: ${JSON.stringify(messagesError(status, message, more))}\n\n`,
  };
}
