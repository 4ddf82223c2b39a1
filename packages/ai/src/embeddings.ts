import { setImmediate } from 'node:timers/promises';
import { AppError, childOf, currentTrace, withTrace } from '@troupe/kernel';
import { dearest, type Accounting, type Charged } from './accounting.ts';
import { ProviderError, toAppError } from './errors.ts';
import type { EmbeddingRequest, ProviderEmbeddings } from './provider.ts';
import type { Candidate } from './routing.ts';
import { estimateTokens, sizeOf } from './tokens.ts';
import type { CallOptions, CallScope, ChatUsage } from './types.ts';

export type { EmbeddingRequest };

export interface EmbeddingResult {
  model: string;
  provider: string;
  data: ProviderEmbeddings['data'];
  usage: { prompt_tokens: number; total_tokens: number };
}

interface EmbeddingDeps {
  accounting: Accounting;
  /** Who serves this model on this plan. */
  candidates: (model: string, options: CallOptions) => { found: Candidate[]; isOwn: boolean };
  /** Whether the next may try. */
  mayFallBack: (error: unknown, candidate: Candidate, next?: Candidate) => boolean;
}

const ANONYMOUS: CallScope = { userId: 'anonymous' };

/** Tokens that were given as such count as they are; no tokenizer makes more of a text than it has bytes. */
function sizeOfInput(input: EmbeddingRequest['input']): { tokens: number; bytes: number } {
  let [tokens, bytes] = [0, 0];
  for (const one of [input].flat(2) as (string | number)[]) {
    if (typeof one === 'string') bytes += sizeOf(one);
    else tokens += 1;
  }
  return { tokens, bytes };
}

const used = (tokens: number): ChatUsage => ({ prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens });

type Embeddings = ProviderEmbeddings['data'];

/** So many numbers at a time are written otherwise before others have a turn. */
const IN_A_TURN = 100_000;

const written = (numbers: number[]): string => Buffer.from(Float32Array.from(numbers).buffer).toString('base64');

/** What holds no whole numbers stays the text that it is. */
function read(text: string): number[] | string {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 0 || bytes.length % 4 !== 0) return text;
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
}

/** As the caller wants them, where a provider writes them in the other way. */
export async function inForm(data: Embeddings, format: EmbeddingRequest['encoding_format']): Promise<Embeddings> {
  const isText = format === 'base64';
  if (data.every(({ embedding }) => (typeof embedding === 'string') === isText)) return data;
  const result: Embeddings = [];
  let done = 0;
  for (const one of data) {
    const { embedding } = one;
    if (typeof embedding === 'string') result.push(isText ? one : { ...one, embedding: read(embedding) });
    else result.push(isText ? { ...one, embedding: written(embedding) } : one);
    done += embedding.length;
    if (done < IN_A_TURN) continue;
    done = 0;
    await setImmediate();
  }
  return result;
}

/** Texts as numbers. Charged, capped and recorded as every other call. */
export function createEmbeddings({ accounting, candidates, mayFallBack }: EmbeddingDeps) {
  return async (model: string, request: EmbeddingRequest, options: CallOptions = {}): Promise<EmbeddingResult> => {
    const { scope = ANONYMOUS, signal } = options;
    const { found, isOwn } = candidates(model, options);
    const able = found.filter(({ provider }) => provider.embed);
    if (able.length === 0) throw new AppError(404, `No provider here makes embeddings with ${model}`);
    const { tokens, bytes } = sizeOfInput(request.input);
    const reservation = isOwn ? undefined : await accounting.reserve(scope, () => dearest(able, tokens + bytes, 0));
    const around = currentTrace();
    const trace = around && childOf(around);
    const started = performance.now();
    const charged: Charged = { scope, isOwn, reservation, started, trace, operation: 'embeddings' };
    for (const [index, candidate] of able.entries()) {
      let reply: ProviderEmbeddings;
      try {
        signal?.throwIfAborted();
        reply = await withTrace(trace, () => candidate.provider.embed!(candidate.name, request, signal));
      } catch (error) {
        if (mayFallBack(error, candidate, able[index + 1])) continue;
        const isGivenUp = !(error instanceof ProviderError);
        const usage = used(isGivenUp ? tokens + estimateTokens(bytes) : 0);
        const failure = isGivenUp ? 'given_up' : error.kind;
        await accounting.end(charged, candidate, { usage, success: false, estimated: isGivenUp, failure });
        throw toAppError(error);
      }
      const usage = used(reply.tokens ?? tokens + estimateTokens(bytes));
      await accounting.end(charged, candidate, { usage, success: true, estimated: reply.tokens === undefined });
      const { prompt_tokens: prompt, total_tokens: total } = usage;
      const told = { prompt_tokens: prompt, total_tokens: total };
      const data = await inForm(reply.data, request.encoding_format);
      return { model: candidate.id, provider: candidate.provider.name, data, usage: told };
    }
    throw new Error('a call without candidates');
  };
}
