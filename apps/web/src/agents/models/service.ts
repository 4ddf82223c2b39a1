import { listAiModels, type Client, type listModels, type TypesOf } from '@troupe/contract';
import { reach } from '../../platform/reach.ts';
import { planAllows, SANDBOX_MODEL, taskModels, type Catalogue } from '@troupe/domain';

type Models = TypesOf<typeof listModels>['reply'];

/** What somebody of this plan can choose from; without a plan, what there is. */
export async function modelsOf(backend: Client, catalogue: Catalogue, plan: string | null): Promise<Models> {
  const { models: all } = await reach(backend.call(listAiModels, {}));
  const known = new Set(catalogue.models.map(({ id }) => id));
  // An aggregator lists hundreds: beside the catalogue only those count that a provider without models in it serves.
  const offered = all.filter(({ id, provider }) => known.has(id) || !(provider in catalogue.providers));
  const allowed = offered.filter(({ id }) => plan === null || planAllows(catalogue, plan, id));
  const isReal = ({ id }: { id: string }): boolean => id !== SANDBOX_MODEL;
  const served = allowed.filter(({ available }) => available);
  const models = served.some(isReal) ? served : allowed;
  const answering = all.filter(({ available }) => available);
  const best = taskModels(catalogue, 'general', plan ?? undefined).find((id) =>
    models.some((model) => model.id === id),
  );
  return {
    models: models.map(({ id, name, description, inputCost, outputCost }) => ({
      id,
      name,
      description,
      inputCost,
      outputCost,
    })),
    default: best ?? models[0]?.id ?? SANDBOX_MODEL,
    sandboxOnly: answering.length > 0 && !answering.some(isReal),
  };
}
