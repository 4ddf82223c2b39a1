import { newId } from '@troupe/kernel';
import { Unusable } from '../provider.ts';
import type { ChatMessage, ToolCall, ToolCallDelta } from '../types.ts';

/** What a client needs of a call, whatever its provider says of it: a name, and an id by which its result is told apart. */

/** One answer's. A provider that gives none, or one twice, is given others: results would else be taken for each other's. */
export function createCallIds(): (given: unknown) => string {
  const taken = new Set<string>();
  return (given) => {
    const isOwn = typeof given === 'string' && given !== '' && !taken.has(given);
    const id = isOwn ? given : `call_${newId().replaceAll('-', '')}`;
    taken.add(id);
    return id;
  };
}

export function nameOfCall(given: unknown): string {
  if (typeof given !== 'string' || given === '') throw new Unusable('a tool call has no name');
  return given;
}

/** JSON as a text, also where a provider gives the value itself. */
export const argumentsOf = (given: unknown): string =>
  typeof given === 'string' ? given : given === undefined || given === null ? '' : JSON.stringify(given);

/** Gemini's mark on a call. */
export function signedOf(given: unknown): Pick<ToolCall, 'extra_content'> {
  const google = (given as { google?: { thought_signature?: unknown } | null } | null | undefined)?.google;
  const signature = google?.thought_signature;
  return typeof signature === 'string' && signature !== ''
    ? { extra_content: { google: { thought_signature: signature } } }
    : {};
}

/** A call of a stream. Nothing of it is told before its name is known: no other protocol can begin one without. */
interface Seat {
  given: string | undefined;
  /** Undefined: not told yet. */
  index: number | undefined;
  held: string;
  /** It has arguments. */
  isGiven: boolean;
  /** They came in one piece. */
  isWhole: boolean;
}

export interface GivenCall {
  index?: unknown;
  id?: unknown;
  function?: { name?: unknown; arguments?: unknown } | null;
  extra_content?: unknown;
}

function isObject(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

/**
 * Which call a piece belongs to. Gemini numbers calls that it makes together alike: another id, or another name after a call
 * that is whole, is another call. Others repeat the name, or say another id, with each piece.
 */
function createSeats() {
  const latest = new Map<number, Seat>();
  const earlier: Seat[] = [];
  return {
    of(place: number, { id, name, args }: Piece): Seat {
      const known = latest.get(place);
      const isOther = (one: Seat): boolean =>
        id !== undefined && one.given !== undefined ? id !== one.given : one.isWhole && args !== '';
      if (known && (name === '' || !isOther(known))) return known;
      const seat: Seat = { given: id, index: undefined, held: '', isGiven: false, isWhole: false };
      if (known) earlier.push(known);
      latest.set(place, seat);
      return seat;
    },
    all: () => [...earlier, ...latest.values()],
  };
}

/** What is there of a call; empty: not in this piece. */
interface Piece {
  id: string | undefined;
  name: string;
  args: string;
}

const pieceOf = (call: GivenCall): Piece => ({
  id: typeof call.id === 'string' && call.id !== '' ? call.id : undefined,
  name: typeof call.function?.name === 'string' ? call.function.name : '',
  args: argumentsOf(call.function?.arguments),
});

/** The calls of one stream in OpenAI's format. */
export function createStreamedCalls() {
  const idFor = createCallIds();
  const seats = createSeats();
  let told = 0;

  function piece(given: unknown, position: number): ToolCallDelta | undefined {
    const call = (given ?? {}) as GivenCall;
    const came = pieceOf(call);
    const seat = seats.of(typeof call.index === 'number' ? call.index : position, came);
    const { id, name, args } = came;
    seat.given ??= id;
    seat.isGiven ||= args !== '';
    if (seat.index !== undefined) {
      if (args === '') return undefined;
      seat.isWhole = false;
      return { index: seat.index, function: { arguments: args } };
    }
    seat.held += args;
    if (name === '') return undefined;
    const said = { name, arguments: seat.held };
    seat.index = told++;
    seat.isWhole = isObject(seat.held);
    seat.held = '';
    const signed = signedOf(call.extra_content);
    return { index: seat.index, id: idFor(seat.given), type: 'function', function: said, ...signed };
  }

  return {
    pieces: (given: unknown): ToolCallDelta[] =>
      Array.isArray(given) ? given.map(piece).filter((one) => one !== undefined) : [],
    any: () => told > 0,
    /** What is left to say at the end of the answer: a call without arguments has no pieces, and no JSON is not JSON. */
    rest(): ToolCallDelta[] {
      const left: ToolCallDelta[] = [];
      for (const seat of seats.all()) {
        if (seat.held !== '') nameOfCall('');
        if (seat.index === undefined || seat.isGiven) continue;
        left.push({ index: seat.index, function: { arguments: '{}' } });
        seat.isGiven = true;
      }
      return left;
    },
  };
}

const SAFE_ID = /^[a-zA-Z0-9_-]{1,64}$/;
const LONGEST_STEM = 50;

function createSafeIds(): (given: string) => string {
  const taken = new Set<string>();
  const repeats = new Map<string, number>();
  return (given) => {
    const isSafe = SAFE_ID.test(given);
    const stem = isSafe ? given : given.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, LONGEST_STEM) || 'call';
    let id = stem;
    for (let count = repeats.get(stem) ?? 1; taken.has(id); repeats.set(stem, count))
      id = `${stem.slice(0, LONGEST_STEM)}-${++count}`;
    taken.add(id);
    return id;
  };
}

/**
 * Anthropic and Bedrock take few characters in the id of a call, and none twice in a conversation; who made the calls may
 * have minded neither. A result is that of the latest call of its name.
 */
export function withSafeIds(messages: ChatMessage[]): ChatMessage[] {
  const safe = createSafeIds();
  const latest = new Map<string, string>();
  return messages.map((message) => {
    if (message.role === 'tool') {
      const id = latest.get(message.tool_call_id) ?? safe(message.tool_call_id);
      return id === message.tool_call_id ? message : { ...message, tool_call_id: id };
    }
    if (message.role !== 'assistant' || !message.tool_calls) return message;
    const calls = message.tool_calls.map((call) => {
      const id = safe(call.id);
      latest.set(call.id, id);
      return id === call.id ? call : { ...call, id };
    });
    return { ...message, tool_calls: calls };
  });
}
