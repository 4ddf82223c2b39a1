import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);

/** A module at once, without a promise. Takes what `import.meta.resolve` answers. */
export const loadNow = (url: string): unknown => require(fileURLToPath(url));

/** What is large and seldom needed, loaded when it is first used. Where waiting does no harm, `await import()` is the way. */
export function onUse<Module>(load: () => Module): () => Module {
  let loaded: Module | undefined;
  return () => (loaded ??= load());
}
