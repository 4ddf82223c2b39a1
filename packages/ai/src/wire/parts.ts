import type { CacheControl, ChatRequest, Content, Part, SystemMessage } from '../types.ts';

/** Texts, pictures and files, as chat parts and as the blocks of Anthropic's messages. */

export type Block = Record<string, unknown> & { type: string };

const INLINE = /^data:([^;,]*)(?:;[^;,]*)*;base64,/;

/** Anthropic: what stands in the address itself, or where to fetch it. */
function sourceOf(url: string): Record<string, unknown> {
  const inline = INLINE.exec(url);
  if (!inline) return { type: 'url', url };
  return { type: 'base64', media_type: inline[1], data: url.slice(inline[0].length) };
}

const mark = (cache: CacheControl | undefined | null): { cache_control?: CacheControl } =>
  cache ? { cache_control: cache } : {};

/** A row for each kind of part: how it is written as a block. */
const TO_BLOCK: { [T in Part['type']]: (part: Extract<Part, { type: T }>) => Block } = {
  text: ({ text }) => ({ type: 'text', text }),
  image_url: ({ image_url: { url } }) => ({ type: 'image', source: sourceOf(url) }),
  file: ({ file: { filename, file_data: data } }) => ({
    type: 'document',
    source: sourceOf(data),
    ...(filename === undefined ? {} : { title: filename }),
  }),
};

const blockOf = (part: Part): Block => ({
  ...(TO_BLOCK[part.type] as (part: Part) => Block)(part),
  ...mark(part.cache_control),
});

/** It refuses texts that are empty. */
export const blocksOf = (content: Content): Block[] =>
  typeof content === 'string'
    ? content === ''
      ? []
      : [{ type: 'text', text: content }]
    : content.filter((part) => part.type !== 'text' || part.text !== '').map(blockOf);

interface Source {
  type: string;
  media_type?: string | undefined;
  data?: string | undefined;
  url?: string | undefined;
}

interface GivenBlock {
  type: string;
  text?: string | undefined;
  title?: string | null | undefined;
  source?: Source | undefined;
  cache_control?: CacheControl | null | undefined;
}

function urlOf({ type, media_type: kind = '', data = '', url = '' }: Source): string {
  if (type === 'url') return url;
  if (type === 'text') return `data:${kind || 'text/plain'};base64,${Buffer.from(data).toString('base64')}`;
  return `data:${kind};base64,${data}`;
}

/** Undefined: this kind of block has no counterpart. */
export function partOf(block: GivenBlock): Part | undefined {
  const marked = mark(block.cache_control);
  if (block.type === 'text') return { type: 'text', text: block.text ?? '', ...marked };
  if (!block.source) return undefined;
  const url = urlOf(block.source);
  if (block.type === 'image') return { type: 'image_url', image_url: { url }, ...marked };
  if (block.type !== 'document') return undefined;
  return { type: 'file', file: { ...(block.title ? { filename: block.title } : {}), file_data: url }, ...marked };
}

interface GivenInput {
  type: string;
  text?: string | undefined;
  image_url?: string | null | undefined;
  detail?: string | null | undefined;
  filename?: string | null | undefined;
  file_data?: string | null | undefined;
  file_url?: string | null | undefined;
}

/** The parts of OpenAI's responses. */
export function partOfInput(given: GivenInput): Part | undefined {
  if (given.type === 'input_image' && given.image_url) {
    const { image_url: url, detail } = given;
    return { type: 'image_url', image_url: detail && detail !== 'auto' ? { url, detail } : { url } };
  }
  const data = given.file_data ?? given.file_url;
  if (given.type === 'input_file' && data)
    return { type: 'file', file: { ...(given.filename ? { filename: given.filename } : {}), file_data: data } };
  return typeof given.text === 'string' ? { type: 'text', text: given.text } : undefined;
}

/** A text alone is written without parts: every provider takes that. */
export function simplest(parts: Part[]): Content {
  const [only] = parts;
  if (parts.length === 0) return '';
  return parts.length === 1 && only?.type === 'text' && !only.cache_control ? only.text : parts;
}

export const plainText = (content: Content | null | undefined): string =>
  typeof content === 'string'
    ? content
    : (content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');

/** Where a format has schemas alone, that any JSON is wanted is said in words. */
export const saidFormat = ({ response_format: format }: ChatRequest): SystemMessage[] =>
  format?.['type'] === 'json_object' ? [{ role: 'system', content: JSON_ONLY }] : [];

const JSON_ONLY = 'Answer with one JSON object and nothing else: no words around it, and no code fence.';
