import {
  findEmbedding,
  findModel,
  planAllows,
  planModels,
  ratesOf,
  SANDBOX_MODEL,
  taskModels,
  type Catalogue,
  type CatalogueModel,
  type Rates,
} from '@troupe/domain';
import { AppError } from '@troupe/kernel';
import type { Provider } from './provider.ts';

/** One try: this provider, asked for the model by the name that it knows. `id` is our name for it. */
export interface Candidate {
  provider: Provider;
  name: string;
  id: string;
  rates: Rates;
}

export interface Routing {
  /** Who is asked, in order. Throws 403 for a model outside the plan and 404 when nobody serves it. */
  candidates: (model: string | undefined, taskType: string | undefined, plan: string | undefined) => Candidate[];
  /** Who makes embeddings with this model. Throws 403 for a model outside the plan. */
  embedding: (model: string, plan: string | undefined) => Candidate[];
  /** Whether some configured provider serves the model. */
  served: (id: string) => boolean;
  /** Nothing depends on what providers list. */
  isFixed: boolean;
}

/** Vendor prefix of a model that is not in the catalogue → who serves it besides the aggregator. */
const VENDORS: Record<string, string> = {
  openai: 'openai',
  anthropic: 'anthropic',
  google: 'gemini',
  gemini: 'gemini',
  groq: 'groq',
  ollama: 'ollama',
};
/** Models under these prefixes are not the aggregator's. */
const OWN_NAMES = new Set(['groq', 'ollama', 'gemini', 'sandbox']);
const MAX_TRIES = 3;

/** Who serves a model, by the catalogue or by its name. */
function createServing(
  providers: readonly Provider[],
  catalogue: Catalogue,
  configured: ReadonlyMap<string, Provider>,
) {
  function serving(id: string): Candidate[] {
    const known = findModel(catalogue, id);
    return known ? servers(known) : unlisted(id);
  }

  const servers = (known: CatalogueModel): Candidate[] =>
    Object.entries(known.servedBy).flatMap(([name, model]) => {
      const provider = configured.get(name);
      return provider ? [{ provider, name: model, id: known.id, rates: known }] : [];
    });

  function embedding(id: string, plan: string | undefined): Candidate[] {
    const known = findEmbedding(catalogue, id);
    if (known) return servers(known);
    if (plan !== undefined && !planAllows(catalogue, plan, id)) restricted(catalogue, plan, id);
    return unlisted(id);
  }

  function unlisted(id: string): Candidate[] {
    const [first = '', ...rest] = id.split('/');
    const inner = rest.join('/');
    const found: Candidate[] = [];
    const add = (name: string | undefined, model: string): void => {
      const provider = name === undefined ? undefined : configured.get(name);
      if (provider && model) found.push({ provider, name: model, id, rates: catalogue.defaultRates });
    };
    // Its own models, such as openrouter/auto, go by their whole name.
    if (first === 'openrouter') add('openrouter', inner.includes('/') ? inner : id);
    else if (inner === '') for (const provider of providers.slice(0, 1)) add(provider.name, id);
    else {
      // One that an administrator has named himself.
      const isAdded = VENDORS[first] === undefined && configured.has(first);
      if (!OWN_NAMES.has(first) && !isAdded) add('openrouter', id);
      add(isAdded ? first : VENDORS[first], inner);
    }
    return found;
  }

  return { serving, embedding };
}

/** Who serves when nobody is named, or when the one that was named failed. */
function createChoosing(
  providers: readonly Provider[],
  catalogue: Catalogue,
  listed: Listed,
  serving: (id: string) => Candidate[],
) {
  /** What a provider serves by itself, and what steps in. */
  function ownModels(name: string): readonly string[] {
    const pair = catalogue.providers[name];
    return pair ? [pair.primary, pair.fallback] : listed(name).slice(0, 2);
  }

  /** The provider's stand-in for a model of it that failed, within the plan. */
  function fallback({ provider, id }: Candidate, plan: string | undefined): Candidate | undefined {
    const wished = ownModels(provider.name).toReversed();
    const rest = plan === undefined ? [] : taskModels(catalogue, 'general', plan);
    return [...wished, ...rest]
      .filter((other) => other !== id && (plan === undefined || planAllows(catalogue, plan, other)))
      .flatMap(serving)
      .find((candidate) => candidate.provider === provider && candidate.id !== id);
  }

  function chosen(taskType: string | undefined, plan: string | undefined): Candidate[] {
    for (const id of taskModels(catalogue, taskType ?? 'general', plan)) {
      const found = serving(id);
      if (found.length > 0) return found;
    }
    // Whatever a provider serves by itself, as far as the plan has it.
    for (const { name } of providers) {
      const id = ownModels(name)[0] ?? '';
      const found = plan === undefined || planAllows(catalogue, plan, id) ? serving(id) : [];
      if (found.length > 0) return found;
    }
    return [];
  }

  return { chosen, fallback };
}

type Listed = (provider: string) => readonly string[];

/** `listed`: the ids of what a provider lists. It counts for providers that the catalogue gives no models of their own. */
export function createRouting(
  providers: readonly Provider[],
  catalogue: Catalogue,
  listed: Listed = () => [],
): Routing {
  const configured = new Map(providers.map((provider) => [provider.name, provider]));
  const sandbox = configured.get('sandbox');

  const { serving, embedding } = createServing(providers, catalogue, configured);

  const { chosen, fallback } = createChoosing(providers, catalogue, listed, serving);

  function candidates(model: string | undefined, taskType: string | undefined, plan: string | undefined): Candidate[] {
    if (model !== undefined && plan !== undefined && !planAllows(catalogue, plan, model))
      restricted(catalogue, plan, model);
    const found = model === undefined ? chosen(taskType, plan) : serving(model);
    const first = found[0];
    if (!first) {
      if (sandbox)
        return [
          { provider: sandbox, name: SANDBOX_MODEL, id: SANDBOX_MODEL, rates: ratesOf(catalogue, SANDBOX_MODEL) },
        ];
      throw new AppError(404, 'No models available', { success: false, code: 'NO_MODELS' });
    }
    const standIn = fallback(first, plan);
    return [...found, ...(standIn ? [standIn] : [])].slice(0, MAX_TRIES);
  }

  const isFixed = providers.every(({ name }) => name === 'sandbox' || catalogue.providers[name] !== undefined);
  const remembered = new Map<string, Candidate[]>();
  return {
    isFixed,
    embedding,
    served: (id) => serving(id).length > 0,
    candidates(model, taskType, plan) {
      const key = `${model ?? ''}\n${taskType ?? ''}\n${plan ?? ''}`;
      const known = remembered.get(key);
      if (known) return known;
      const found = candidates(model, taskType, plan);
      // Names come from callers: what is remembered stays bounded.
      if (remembered.size > 1_000) remembered.clear();
      if (isFixed) remembered.set(key, found);
      return found;
    },
  };
}

function restricted(catalogue: Catalogue, plan: string, model: string): never {
  throw new AppError(403, `Model ${model} not available on your plan. Upgrade for more models.`, {
    success: false,
    code: 'MODEL_RESTRICTED',
    allowedModels: planModels(catalogue, plan) ?? [],
  });
}
