import { BUILT_IN_CATALOGUE, findModel } from '@troupe/domain';

/** A model's name for people; of one that is not in the catalogue, what follows the last slash. */
export function modelName(id: string | null | undefined): string {
  if (!id) return '–';
  return findModel(BUILT_IN_CATALOGUE, id.replace(/^openrouter\//, ''))?.name ?? id.split('/').at(-1) ?? id;
}
