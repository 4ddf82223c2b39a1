/** More than these nobody reads: the search narrows them. */
export const MOST_MODELS = 60;

/** Those that have every word of the search somewhere in what they are called, in the order that is given. */
export function findModels<Model extends { id: string; name: string; description: string }>(
  models: readonly Model[],
  search: string,
): Model[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return models
    .filter(({ id, name, description }) => {
      const text = `${id} ${name} ${description}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .slice(0, MOST_MODELS);
}
