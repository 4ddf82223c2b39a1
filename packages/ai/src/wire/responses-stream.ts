import { errorType } from '@troupe/contract';
import type { ChatDelta, ThoughtDelta, ToolCallDelta } from '../types.ts';
import type { FaceContext, StreamWriter } from './face.ts';
import {
  callItem,
  messageItem,
  outline,
  reasoningItem,
  refusalPart,
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
  close: (status: string) => string;
}

type Item = { id: string };

/** The events of OpenAI's responses. Each has a number; an item has a place, and several may be open at once. */
class ResponsesWriter implements StreamWriter {
  readonly #context: FaceContext<Body>;
  #sequence = 0;
  #head: { id: string; model: string } | undefined;
  readonly #output: Item[] = [];
  #text: Open | undefined;
  readonly #thoughts = new Map<number, Open & { sign: (delta: ThoughtDelta) => void }>();
  readonly #calls = new Map<number, Open>();
  #keeping: Promise<void> | undefined;

  constructor(context: FaceContext<Body>) {
    this.#context = context;
  }

  write(deltas: readonly ChatDelta[]): string {
    let written = '';
    for (const each of deltas) written += this.#one(each);
    return written;
  }

  settled(): Promise<void> | undefined {
    return this.#keeping;
  }

  fail({ status, message, more }: Parameters<StreamWriter['fail']>[0]): string {
    return this.#event(
      'response.failed',
      this.#frame('failed', { error: { code: errorType('openai', status), ...more, message } }),
    );
  }

  #event(type: string, data: object): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#sequence++, ...data })}\n\n`;
  }

  #added(place: number, item: Item): string {
    this.#output[place] = item;
    return this.#event('response.output_item.added', { output_index: place, item });
  }

  #done(place: number, item: Item): string {
    this.#output[place] = item;
    return this.#event('response.output_item.done', { output_index: place, item });
  }

  #frame(status: string, more: object = {}) {
    return {
      response: {
        ...outline(this.#head ?? { id: 'resp_', model: '' }, this.#context),
        status,
        incomplete_details: null,
        output: this.#output,
        usage: null,
        ...more,
      },
    };
  }

  #itemId(place: number): string {
    return `${this.#head!.id}-${place}`;
  }

  /** Words, or why there are none. */
  #openText(refused: boolean): [Open, string] {
    const place = this.#output.length;
    let said = '';
    const item = messageItem(this.#itemId(place), '', 'in_progress');
    const at = { item_id: item.id, output_index: place, content_index: 0 };
    const part = refused ? refusalPart : textPart;
    const kind = refused ? 'response.refusal' : 'response.output_text';
    const more = refused ? {} : { logprobs: [] };
    const begin =
      this.#added(place, { ...item, content: [] } as Item) +
      this.#event('response.content_part.added', { ...at, part: part('') });
    const open: Open = {
      place,
      add: (piece) => {
        said += piece;
        return this.#event(`${kind}.delta`, { ...at, delta: piece, ...more });
      },
      close: (status) =>
        this.#event(`${kind}.done`, { ...at, ...(refused ? { refusal: said } : { text: said }), ...more }) +
        this.#event('response.content_part.done', { ...at, part: part(said) }) +
        this.#done(place, messageItem(this.#itemId(place), said, status, part)),
    };
    return [open, begin];
  }

  #openThought(): [Open & { sign: (delta: ThoughtDelta) => void }, string] {
    const place = this.#output.length;
    let said = '';
    let isShown = false;
    const kept: { text: string; signature?: string; redacted?: string } = { text: '' };
    const item = reasoningItem(this.#itemId(place), '', undefined);
    const at = { item_id: item.id, output_index: place, summary_index: 0 };
    const open = {
      place,
      sign({ signature, redacted }: ThoughtDelta): void {
        if (signature !== undefined) kept.signature = (kept.signature ?? '') + signature;
        if (redacted !== undefined) kept.redacted = (kept.redacted ?? '') + redacted;
      },
      add: (piece: string): string => {
        const part = { type: 'summary_text', text: '' };
        const begin = isShown ? '' : this.#event('response.reasoning_summary_part.added', { ...at, part });
        isShown = true;
        said += piece;
        return begin + this.#event('response.reasoning_summary_text.delta', { ...at, delta: piece });
      },
      close: (): string => {
        const end = isShown
          ? this.#event('response.reasoning_summary_text.done', { ...at, text: said }) +
            this.#event('response.reasoning_summary_part.done', { ...at, part: { type: 'summary_text', text: said } })
          : '';
        return end + this.#done(place, reasoningItem(this.#itemId(place), said, seal(kept)));
      },
    };
    return [open, this.#added(place, item)];
  }

  #openCall({ index, id, function: part }: ToolCallDelta): [Open, string] {
    const place = this.#output.length;
    const [callId, name] = [id ?? `call_${index}`, part?.name ?? ''];
    let args = '';
    const make = (status: string) => callItem(this.#itemId(place), callId, name, args, this.#context.body, status);
    const first = make('in_progress');
    const isFunction = first.type === 'function_call';
    const at = { item_id: first.id, output_index: place };
    const open: Open = {
      place,
      add: (piece) => {
        args += piece;
        // The text of a tool that takes one is known when the whole of it is there.
        return isFunction ? this.#event('response.function_call_arguments.delta', { ...at, delta: piece }) : '';
      },
      close: (status) => {
        const item = make(status);
        const end = isFunction
          ? this.#event('response.function_call_arguments.done', { ...at, name: item.name, arguments: args })
          : this.#event('response.custom_tool_call_input.delta', { ...at, delta: item.input }) +
            this.#event('response.custom_tool_call_input.done', { ...at, input: item.input });
        return end + this.#done(place, item);
      },
    };
    return [open, this.#added(place, isFunction ? first : { ...first, input: '' })];
  }

  #think(delta: ThoughtDelta): string {
    let begin = '';
    let open = this.#thoughts.get(delta.index);
    if (!open) {
      [open, begin] = this.#openThought();
      this.#thoughts.set(delta.index, open);
    }
    open.sign(delta);
    return begin + (delta.text ? open.add(delta.text) : '');
  }

  #say(content: string, refused: boolean): string {
    let begin = '';
    if (!this.#text) [this.#text, begin] = this.#openText(refused);
    return begin + this.#text.add(content);
  }

  #call(delta: ToolCallDelta): string {
    let begin = '';
    let open = this.#calls.get(delta.index);
    if (!open) {
      [open, begin] = this.#openCall(delta);
      this.#calls.set(delta.index, open);
    }
    return begin + (delta.function?.arguments ? open.add(delta.function.arguments) : '');
  }

  #end({ finishReason, usage }: ChatDelta): string {
    const open = [...this.#thoughts.values(), ...(this.#text ? [this.#text] : []), ...this.#calls.values()];
    const reason = incompleteReason(finishReason!);
    const status = reason === undefined ? 'completed' : 'incomplete';
    const closed = open
      .toSorted((a, b) => a.place - b.place)
      .map((one) => one.close(status))
      .join('');
    const more = { incomplete_details: reason === undefined ? null : { reason } };
    const frame = this.#frame(status, { ...more, usage: usage ? responsesUsage(usage) : null });
    this.#keeping = this.#context.kept?.keep(frame.response);
    return closed + this.#event(`response.${status}`, frame);
  }

  #one(delta: ChatDelta): string {
    let written = '';
    if (!this.#head) {
      this.#head = { id: this.#context.kept?.id ?? delta.id, model: delta.model };
      written =
        this.#event('response.created', this.#frame('in_progress')) +
        this.#event('response.in_progress', this.#frame('in_progress'));
    }
    for (const each of delta.thoughts ?? []) written += this.#think(each);
    if (delta.content) written += this.#say(delta.content, delta.refused === true);
    for (const each of delta.toolCalls ?? []) written += this.#call(each);
    return delta.finishReason ? written + this.#end(delta) : written;
  }
}

export const responsesWriter = (context: FaceContext<Body>): StreamWriter => new ResponsesWriter(context);
