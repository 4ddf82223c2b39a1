import type { Thought, ThoughtDelta } from '../types.ts';

/**
 * What a model thought, as OpenAI's chat format has it: OpenAI itself has no field for it, others say `reasoning_content`
 * or `reasoning`, and OpenRouter gives `reasoning_details`, which alone carry what a provider wants to see again.
 */

interface Spoken {
  reasoning?: unknown;
  reasoning_content?: unknown;
  reasoning_details?: unknown;
}

interface Detail {
  type?: unknown;
  text?: unknown;
  summary?: unknown;
  signature?: unknown;
  data?: unknown;
  index?: unknown;
}

const text = (given: unknown): string | undefined => (typeof given === 'string' && given !== '' ? given : undefined);

function thoughtOf({ type, text: said, summary, signature, data }: Detail): Thought {
  if (type === 'reasoning.encrypted') return { text: '', redacted: text(data) ?? '' };
  const signed = text(signature);
  return { text: text(said) ?? text(summary) ?? '', ...(signed === undefined ? {} : { signature: signed }) };
}

const details = ({ reasoning_details: given }: Spoken): Detail[] | undefined =>
  Array.isArray(given) && given.length > 0
    ? given.filter((one): one is Detail => typeof one === 'object' && one !== null)
    : undefined;

export function thoughtsOf(message: Spoken): Thought[] | undefined {
  const found = details(message);
  if (found) return found.map(thoughtOf);
  const said = text(message.reasoning_content) ?? text(message.reasoning);
  return said === undefined ? undefined : [{ text: said }];
}

export function thoughtDeltas(delta: Spoken): ThoughtDelta[] | undefined {
  const found = details(delta);
  if (found)
    return found.map((one, place) => ({
      index: typeof one.index === 'number' ? one.index : place,
      ...thoughtOf(one),
    }));
  const said = text(delta.reasoning_content) ?? text(delta.reasoning);
  return said === undefined ? undefined : [{ index: 0, text: said }];
}

export const detailOf = ({ text: said, signature, redacted }: Partial<Thought>, index: number): object =>
  redacted === undefined
    ? { type: 'reasoning.text', index, text: said ?? '', ...(signature === undefined ? {} : { signature }) }
    : { type: 'reasoning.encrypted', index, data: redacted };
