import { errorType } from '@troupe/contract';
import type { ChatDelta, ThoughtDelta, ToolCallDelta } from '../types.ts';
import type { FaceContext, StreamWriter } from './face.ts';
import {
  callItem,
  messageItem,
  outline,
  reasoningItem,
  responsesUsage,
  seal,
  textPart,
  type Body,
} from './responses-items.ts';
import { incompleteReason } from './tables.ts';

/** One item of the output that is being written. */
interface Open {
  place: number;
  add: (piece: string) => string;
  /** The item as it is when it is done, and the events that say so. */
  close: () => string;
}

type Item = { id: string };

/** The events of OpenAI's responses. Each has a number; an item has a place, and several may be open at once. */
export function responsesWriter(context: FaceContext<Body>): StreamWriter {
  let sequence = 0;
  let head: { id: string; model: string } | undefined;
  const output: Item[] = [];
  let text: Open | undefined;
  const thoughts = new Map<number, Open & { sign: (delta: ThoughtDelta) => void }>();
  const calls = new Map<number, Open>();

  const event = (type: string, data: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...data })}\n\n`;
  const added = (place: number, item: Item): string => {
    output[place] = item;
    return event('response.output_item.added', { output_index: place, item });
  };
  const done = (place: number, item: Item): string => {
    output[place] = item;
    return event('response.output_item.done', { output_index: place, item });
  };
  const frame = (status: string, more: object = {}) => ({
    response: {
      ...outline(head ?? { id: 'resp_', model: '' }, context),
      status,
      incomplete_details: null,
      output,
      usage: null,
      ...more,
    },
  });
  const itemId = (place: number): string => `${head!.id}-${place}`;

  function openText(): [Open, string] {
    const place = output.length;
    let said = '';
    const item = messageItem(itemId(place), '', 'in_progress');
    const at = { item_id: item.id, output_index: place, content_index: 0 };
    const begin =
      added(place, { ...item, content: [] } as Item) +
      event('response.content_part.added', { ...at, part: textPart('') });
    const open: Open = {
      place,
      add(piece) {
        said += piece;
        return event('response.output_text.delta', { ...at, delta: piece, logprobs: [] });
      },
      close: () =>
        event('response.output_text.done', { ...at, text: said, logprobs: [] }) +
        event('response.content_part.done', { ...at, part: textPart(said) }) +
        done(place, messageItem(itemId(place), said)),
    };
    return [open, begin];
  }

  function openThought(): [Open & { sign: (delta: ThoughtDelta) => void }, string] {
    const place = output.length;
    let said = '';
    let isShown = false;
    const kept: { text: string; signature?: string; redacted?: string } = { text: '' };
    const item = reasoningItem(itemId(place), '', undefined);
    const at = { item_id: item.id, output_index: place, summary_index: 0 };
    const open = {
      place,
      sign({ signature, redacted }: ThoughtDelta): void {
        if (signature !== undefined) kept.signature = (kept.signature ?? '') + signature;
        if (redacted !== undefined) kept.redacted = (kept.redacted ?? '') + redacted;
      },
      add(piece: string): string {
        const part = { type: 'summary_text', text: '' };
        const begin = isShown ? '' : event('response.reasoning_summary_part.added', { ...at, part });
        isShown = true;
        said += piece;
        return begin + event('response.reasoning_summary_text.delta', { ...at, delta: piece });
      },
      close(): string {
        const end = isShown
          ? event('response.reasoning_summary_text.done', { ...at, text: said }) +
            event('response.reasoning_summary_part.done', { ...at, part: { type: 'summary_text', text: said } })
          : '';
        return end + done(place, reasoningItem(itemId(place), said, seal(kept)));
      },
    };
    return [open, added(place, item)];
  }

  function openCall({ index, id, function: part }: ToolCallDelta): [Open, string] {
    const place = output.length;
    const [callId, name] = [id ?? `call_${index}`, part?.name ?? ''];
    let args = '';
    const make = (status: string) => callItem(itemId(place), callId, name, args, context.body, status);
    const first = make('in_progress');
    const isFunction = first.type === 'function_call';
    const at = { item_id: first.id, output_index: place };
    const open: Open = {
      place,
      add(piece) {
        args += piece;
        // The text of a tool that takes one is known when the whole of it is there.
        return isFunction ? event('response.function_call_arguments.delta', { ...at, delta: piece }) : '';
      },
      close() {
        const item = make('completed');
        const end = isFunction
          ? event('response.function_call_arguments.done', { ...at, name: item.name, arguments: args })
          : event('response.custom_tool_call_input.delta', { ...at, delta: item.input }) +
            event('response.custom_tool_call_input.done', { ...at, input: item.input });
        return end + done(place, item);
      },
    };
    return [open, added(place, isFunction ? first : { ...first, input: '' })];
  }

  function think(delta: ThoughtDelta): string {
    let begin = '';
    let open = thoughts.get(delta.index);
    if (!open) {
      [open, begin] = openThought();
      thoughts.set(delta.index, open);
    }
    open.sign(delta);
    return begin + (delta.text ? open.add(delta.text) : '');
  }

  function say(content: string): string {
    let begin = '';
    if (!text) [text, begin] = openText();
    return begin + text.add(content);
  }

  function call(delta: ToolCallDelta): string {
    let begin = '';
    let open = calls.get(delta.index);
    if (!open) {
      [open, begin] = openCall(delta);
      calls.set(delta.index, open);
    }
    return begin + (delta.function?.arguments ? open.add(delta.function.arguments) : '');
  }

  function end({ finishReason, usage }: ChatDelta): string {
    const open = [...thoughts.values(), ...(text ? [text] : []), ...calls.values()];
    const closed = open
      .toSorted((a, b) => a.place - b.place)
      .map((one) => one.close())
      .join('');
    const reason = incompleteReason(finishReason!);
    const status = reason === undefined ? 'completed' : 'incomplete';
    const more = { incomplete_details: reason === undefined ? null : { reason } };
    return (
      closed + event(`response.${status}`, frame(status, { ...more, usage: usage ? responsesUsage(usage) : null }))
    );
  }

  function one(delta: ChatDelta): string {
    let written = '';
    if (!head) {
      head = { id: delta.id, model: delta.model };
      written = event('response.created', frame('in_progress')) + event('response.in_progress', frame('in_progress'));
    }
    for (const each of delta.thoughts ?? []) written += think(each);
    if (delta.content) written += say(delta.content);
    for (const each of delta.toolCalls ?? []) written += call(each);
    return delta.finishReason ? written + end(delta) : written;
  }

  return {
    write(deltas) {
      let written = '';
      for (const each of deltas) written += one(each);
      return written;
    },
    fail: ({ status, message, more }) =>
      event('response.failed', frame('failed', { error: { code: errorType('openai', status), ...more, message } })),
  };
}
