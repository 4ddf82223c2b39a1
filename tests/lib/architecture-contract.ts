import type { Rule } from './architecture.ts';

const CONTRACT = 'packages/contract/src/';
const ENDPOINTS = /^export const (\w+) = endpoint\(/gm;
/** `export * from` and `export { a, b as c } from`, but not `export * as`. */
const FLAT = /^export (?:\*|\{([^}]*)\}) from '\.\/([^']+)';/gm;

/** Endpoints are reached by service, slice and verb: `web.keys.create`. */
export const endpointsInGroups: Rule = (sources) => {
  const texts = new Map(sources.map(({ path: file, text }) => [file, text]));
  return [...(texts.get(`${CONTRACT}index.ts`) ?? '').matchAll(FLAT)].flatMap(([, names, file = '']) => {
    const exported = names?.split(',').map((name) => name.trim().split(' as ')[0]);
    return [...(texts.get(CONTRACT + file) ?? '').matchAll(ENDPOINTS)]
      .filter(([, name]) => exported === undefined || exported.includes(name))
      .map(([, name]) => `the contract exports the endpoint ${name} of ${file} without a group`);
  });
};
