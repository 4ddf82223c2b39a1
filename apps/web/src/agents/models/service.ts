import { backend as onBackend, type Client, type web, type TypesOf } from '@troupe/contract';
import { findModel, planAllows, SANDBOX_MODEL, taskModels, type Catalogue } from '@troupe/domain';
import { AppError, type BackendClient, type Log } from '@troupe/kernel';
import { reach } from '../../platform/reach.ts';
import { nearest } from './nearest.ts';

type Models = TypesOf<typeof web.models.list>['reply'];

/** What somebody of this plan can choose from; without a plan, what there is. */
export async function modelsOf(backend: Client, catalogue: Catalogue, plan: string | null): Promise<Models> {
  const { models: all } = await reach(backend.call(onBackend.ai.listModels, {}));
  const known = new Set(catalogue.models.map(({ id }) => id));
  // An aggregator lists hundreds: beside the catalogue only those count that a provider without models in it serves.
  const offered = all.filter(({ id, provider }) => known.has(id) || !(provider in catalogue.providers));
  const allowed = offered.filter(({ id, open }) => open || plan === null || planAllows(catalogue, plan, id));
  const isReal = ({ id }: { id: string }): boolean => id !== SANDBOX_MODEL;
  const served = allowed.filter(({ available }) => available);
  const models = served.some(isReal) ? served : allowed;
  const answering = all.filter(({ available }) => available);
  const best = taskModels(catalogue, 'general', plan ?? undefined).find((id) =>
    models.some((model) => model.id === id),
  );
  return {
    models: models.map(({ id, name, description, inputCost, outputCost, contextWindow, sees = false }) => ({
      id,
      name,
      description,
      inputCost,
      outputCost,
      contextWindow,
      sees,
    })),
    default: best ?? models[0]?.id ?? SANDBOX_MODEL,
    sandboxOnly: answering.length > 0 && !answering.some(isReal),
  };
}

type Model = TypesOf<typeof onBackend.ai.listModels>['reply']['models'][number];

const KEPT_MS = 15_000;
const AGGREGATOR = 'openrouter';
const SUGGESTED = 3;

/** All models, asked for again and again. */
function createListing({ backend, log }: { backend: Pick<BackendClient, 'call'>; catalogue: Catalogue; log: Log }) {
  let kept: { until: number; models: Promise<Model[] | undefined> } | undefined;

  /** Undefined: the backend cannot tell now, and its own answer to what is asked next says why. */
  function all(): Promise<Model[] | undefined> {
    if (kept && kept.until > performance.now()) return kept.models;
    const models = backend.call(onBackend.ai.listModels, {}).then(
      (reply) => reply.models,
      (err: unknown) => {
        log.debug({ err }, 'models could not be listed');
        kept = undefined;
        return undefined;
      },
    );
    kept = { until: performance.now() + KEPT_MS, models };
    return models;
  }

  return {
    all,
    forget: (): void => {
      kept = undefined;
    },
  };
}

/** Which models there are, and which one really answers for an agent. */
export type KnownModels = ReturnType<typeof createKnownModels>;

export function createKnownModels(deps: { backend: Pick<BackendClient, 'call'>; catalogue: Catalogue; log: Log }) {
  const { catalogue } = deps;
  const { all, forget } = createListing(deps);

  /** An aggregator that could not be asked may have anything. */
  const isSilent = (models: readonly Model[]): boolean =>
    models.some(({ provider, available }) => provider === AGGREGATOR && available) &&
    !models.some(({ id, provider }) => provider === AGGREGATOR && !findModel(catalogue, id));

  const isListed = (models: readonly Model[], name: string): boolean => {
    const id = findModel(catalogue, name)?.id ?? name.replace(/^openrouter\/(?=.+\/)/, '');
    return models.some((model) => model.id === id || model.id === name);
  };

  return {
    /** There may be others now. */
    forget,
    /** Throws 400 with the nearest names for one that no provider has. One that nobody can tell of is let pass. */
    async check(names: readonly string[]): Promise<void> {
      const models = await all();
      if (!models) return;
      for (const name of names) {
        if (findModel(catalogue, name) || isListed(models, name) || isSilent(models)) continue;
        const served = models.filter(({ available, id }) => available && id !== SANDBOX_MODEL);
        const names = (served.length > 0 ? served : models).map(({ id }) => id);
        const near = nearest(name, names, SUGGESTED);
        const hint = near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : '';
        throw new AppError(400, `There is no model ${name}.${hint}`, { models: near });
      }
    },

    /** Answers what an agent of this plan and model is answered by. */
    async answering(): Promise<(agent: { plan: string; model: string; hasOwnKey: boolean }) => string> {
      const models = await all();
      const served = models?.filter(({ available }) => available) ?? [];
      const isReal = served.some(({ id }) => id !== SANDBOX_MODEL);
      return ({ plan, model, hasOwnKey }) => {
        if (!models || hasOwnKey) return model;
        if (
          (planAllows(catalogue, plan, model) || served.some(({ id, open }) => open && id === model)) &&
          (isListed(served, model) || (isSilent(models) && !findModel(catalogue, model)))
        )
          return model;
        if (!isReal) return served.length > 0 ? SANDBOX_MODEL : model;
        return taskModels(catalogue, 'general', plan).find((id) => isListed(served, id)) ?? served[0]!.id;
      };
    },
  };
}
