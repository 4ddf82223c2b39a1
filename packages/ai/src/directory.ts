import { findModel, SANDBOX_MODEL, seesPictures, type Catalogue, type CatalogueModel } from '@troupe/domain';
import type { Log } from '@troupe/kernel';
import type { ListedModel, Provider } from './provider.ts';

export interface AiModel {
  id: string;
  name: string;
  provider: string;
  description: string;
  tags: string[];
  /** US dollars per million tokens. */
  inputCost: number;
  outputCost: number;
  contextWindow: number;
  /** It can be shown pictures. */
  sees: boolean;
  /** Every plan has it. */
  open?: true;
  available: boolean;
}

export interface Health {
  /** `error`: providers are configured and none of them answers. */
  status: 'healthy' | 'degraded' | 'error';
  providers: Record<string, boolean>;
}

export interface Directory {
  /** The catalogue and what the providers list, merged; or what this one provider serves. */
  models: (provider?: string) => Promise<AiModel[]>;
  health: () => Promise<Health>;
  /** Waits until every provider has been asked once. */
  asked: () => Promise<void>;
  /** The ids of what the provider listed when it was asked last. */
  listed: (provider: string) => string[];
  /** Whether this model, as the provider names it, can be shown pictures. */
  sees: (provider: string, name: string, id: string) => boolean;
}

export interface DirectoryOptions {
  providers: readonly Provider[];
  catalogue: Catalogue;
  log: Log;
  served: (id: string) => boolean;
}

const FRESH_MS = 5 * 60_000;
/** A provider that failed is asked again sooner. */
const RETRY_MS = 15_000;
const LIST_TIMEOUT_MS = 4_000;
const UNKNOWN_CONTEXT = 0;
/** What providers list beside models that chat. */
const NO_CHAT = /embed|whisper|tts|transcri|dall-e|moderation|realtime|imagen|veo|sora|rerank/i;
export const AGGREGATOR = 'openrouter';

interface Listing {
  models: ListedModel[];
  ok: boolean;
  until: number;
  refreshing: Promise<void> | undefined;
}

/** What providers say that they have. */
function createListings({ providers, log }: DirectoryOptions) {
  const listings = new Map<string, Listing>(
    providers.map(({ name }) => [name, { models: [], ok: false, until: -Infinity, refreshing: undefined }]),
  );

  async function refresh(provider: Provider, listing: Listing): Promise<void> {
    try {
      listing.models = await provider.models(AbortSignal.timeout(LIST_TIMEOUT_MS));
      listing.ok = true;
    } catch (error) {
      // What it listed before stays: a provider that is down has not lost its models.
      listing.ok = false;
      const detail = error instanceof Error ? error.message : String(error);
      log.warn({ provider: provider.name, detail }, 'models could not be listed');
    }
    listing.until = performance.now() + (listing.ok ? FRESH_MS : RETRY_MS);
  }

  /** Waits only for providers that were never asked; the others are refreshed behind the answer. */
  async function current(): Promise<void> {
    const firsts: Promise<void>[] = [];
    for (const provider of providers) {
      const listing = listings.get(provider.name)!;
      if (listing.until > performance.now()) continue;
      listing.refreshing ??= refresh(provider, listing).finally(() => {
        listing.refreshing = undefined;
      });
      if (listing.until === -Infinity) firsts.push(listing.refreshing);
    }
    await Promise.all(firsts);
  }

  return { listings, current };
}

function createFromCatalogue(
  { served }: DirectoryOptions,
  listings: ReturnType<typeof createListings>['listings'],
  sees: Directory['sees'],
) {
  function fromCatalogue(model: CatalogueModel, only: string | undefined): AiModel {
    const names = serversOf(model);
    const provider = only ?? names.find((name) => listings.has(name)) ?? names[0]!;
    const { id, name, description, tags, inputRate, outputRate, contextWindow } = model;
    const available = only === undefined ? served(id) : listings.has(only);
    return {
      id,
      name,
      provider,
      description,
      tags,
      inputCost: inputRate,
      outputCost: outputRate,
      contextWindow,
      sees: sees(provider, model.servedBy[provider] ?? id, id),
      available,
    };
  }

  return fromCatalogue;
}

export function createDirectory(deps: DirectoryOptions): Directory {
  const { providers, catalogue, served } = deps;
  const { listings, current } = createListings(deps);

  async function models(only?: string): Promise<AiModel[]> {
    await current();
    const result = catalogue.models
      .filter((model) => model.id !== SANDBOX_MODEL || served(SANDBOX_MODEL))
      .filter((model) => only === undefined || serversOf(model).includes(only))
      .map((model) => fromCatalogue(model, only));
    const seen = new Set(result.map((model) => model.id));
    for (const provider of providers.filter(({ name }) => only === undefined || name === only)) {
      for (const model of chatting(provider.name)) {
        const id = platformId(provider.name, model.id);
        if (seen.has(id) || findModel(catalogue, id) || isServedName(provider.name, model.id)) continue;
        seen.add(id);
        result.push({
          id,
          name: model.name ?? model.id,
          provider: provider.name,
          description: '',
          tags: [],
          inputCost: catalogue.defaultRates.inputRate,
          outputCost: catalogue.defaultRates.outputRate,
          contextWindow: model.contextWindow ?? UNKNOWN_CONTEXT,
          sees: model.sees ?? seesPictures(catalogue, id),
          ...(catalogue.open?.includes(provider.name) && { open: true as const }),
          available: true,
        });
      }
    }
    return result;
  }

  const chatting = (provider: string): ListedModel[] =>
    (listings.get(provider)?.models ?? []).filter(({ id }) => !NO_CHAT.test(id));

  const isServedName = (provider: string, name: string): boolean =>
    catalogue.models.some((model) => model.servedBy[provider] === name);

  const fromCatalogue = createFromCatalogue(deps, listings, sees);

  function sees(provider: string, name: string, id: string): boolean {
    return listings.get(provider)?.models.find((one) => one.id === name)?.sees ?? seesPictures(catalogue, id);
  }

  async function health(): Promise<Health> {
    await current();
    const states = Object.fromEntries([...listings].map(([name, listing]) => [name, listing.ok]));
    const answers = Object.values(states);
    const some = answers.includes(true);
    const status = some && !answers.includes(false) ? 'healthy' : some || answers.length === 0 ? 'degraded' : 'error';
    return { status, providers: { [AGGREGATOR]: false, ...states } };
  }

  const listed = (provider: string): string[] => chatting(provider).map(({ id }) => platformId(provider, id));

  return { models, health, asked: current, listed, sees };
}

function serversOf({ servedBy }: CatalogueModel): string[] {
  const names = Object.keys(servedBy);
  return names.length > 0 ? names : [AGGREGATOR];
}

/** Only the aggregator's names say whose a model is. */
function platformId(provider: string, name: string): string {
  if (provider === AGGREGATOR) return name;
  return `${provider === 'gemini' ? 'google' : provider}/${name}`;
}
