import { costMicros, ratesOf, type Catalogue } from '@troupe/domain';
import { ProviderError } from './errors.ts';
import type { ListedModel, Provider } from './provider.ts';

/** What came of trying a provider, in words. */
export interface Tried {
  ok: boolean;
  message: string;
  models: number;
  model: string | null;
  ms: number | null;
}

const LIST_MS = 10_000;
const ASK_MS = 30_000;
const ANSWER_TOKENS = 16;
const NO_CHAT = /embed|whisper|tts|transcri|dall-e|moderation|realtime|imagen|veo|sora|rerank|guard/i;

/** How keys of these begin: a wrong one is often somebody else's. */
const BEGIN: Readonly<Record<string, string>> = {
  openrouter: 'sk-or-',
  anthropic: 'sk-ant-',
  openai: 'sk-',
  gemini: 'AIza',
  groq: 'gsk_',
};

/** A small model that the catalogue knows, where the provider lists it; else the first that talks. */
function sample({ name }: Provider, listed: readonly ListedModel[], catalogue: Catalogue): string | undefined {
  const talking = listed.filter(({ id }) => !NO_CHAT.test(id));
  const known = catalogue.models
    .toSorted((a, b) => a.outputRate - b.outputRate)
    .map(({ servedBy }) => servedBy[name])
    .find((one) => talking.some(({ id }) => id === one));
  return known ?? talking[0]?.id;
}

function why(error: unknown, kind: string): string {
  if (!(error instanceof ProviderError)) return error instanceof Error ? error.message : String(error);
  const { status, detail, kind: failure } = error;
  if (status === 401 || status === 403) {
    const begin = BEGIN[kind];
    return `The key was refused (${status}).${begin ? ` Keys of ${kind} begin with ${begin}.` : ''}`;
  }
  if (failure === 'connection') return `Nothing answers at this address: ${detail.slice(0, 200)}`;
  if (failure === 'timeout') return 'It did not answer in time.';
  if (status === 404)
    return 'There is nothing like a list of models at this address (404). Is a part of the path missing?';
  return `It answered ${status === undefined ? 'something that cannot be used' : status}: ${detail.slice(0, 300)}`;
}

/** Lists its models and asks one of them a word: what is wrong is found before anybody relies on it. */
export async function tryProvider(make: () => Provider, kind: string, catalogue: Catalogue): Promise<Tried> {
  let provider: Provider;
  try {
    provider = make();
  } catch (error) {
    return { ...NOTHING, message: `It cannot be used: ${error instanceof Error ? error.message : String(error)}.` };
  }
  try {
    return await askIt(provider, kind, catalogue);
  } finally {
    await provider.close();
  }
}

const counted = (models: number): string => (models === 1 ? '1 model' : `${models} models`);

/** To the millionth where it is as little as that, and no longer than it needs to be. */
const usd = (micros: number): string => `$${(micros / 1e6).toFixed(6).replace(/(\.\d\d\d*?)0+$/, '$1')}`;

const NOTHING = { ok: false, models: 0, model: null, ms: null };

async function askIt(provider: Provider, kind: string, catalogue: Catalogue): Promise<Tried> {
  let listed: ListedModel[];
  try {
    listed = await provider.models(AbortSignal.timeout(LIST_MS));
  } catch (error) {
    return { ...NOTHING, message: why(error, kind) };
  }
  const model = sample(provider, listed, catalogue);
  const models = listed.length;
  if (model === undefined) return { ...NOTHING, models, message: `It answers, and lists no model that talks.` };
  const started = performance.now();
  try {
    const messages = [{ role: 'user' as const, content: 'Answer with the word: ready' }];
    const { usage } = await provider.chat(model, { messages, max_tokens: ANSWER_TOKENS }, AbortSignal.timeout(ASK_MS));
    const ms = Math.round(performance.now() - started);
    const micros = usage && costMicros(ratesOf(catalogue, model), usage.prompt_tokens, usage.completion_tokens);
    const cost = micros === undefined ? '' : ` for ${usd(micros)}`;
    const message = `It works. ${counted(models)}. ${model} answered in ${(Math.max(ms, 100) / 1000).toFixed(1)} s${cost}.`;
    return { ok: true, message, models, model, ms };
  } catch (error) {
    return {
      ok: false,
      models,
      model,
      ms: null,
      message: `It lists ${counted(models)}, but ${model} did not answer: ${why(error, kind)}`,
    };
  }
}
