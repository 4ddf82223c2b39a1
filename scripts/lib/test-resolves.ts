import module from 'node:module';

/**
 * Loaded before a file of tests. For each of some 5,000 imports Node asks the disk whether the file is there, where it really
 * lies and what its package says, which is a third of what it takes to load the services. Here a path that is written out
 * is what it says, and a package is looked for once for each of our packages, and for each folder of others.
 */

const found = new Map<string, module.ResolveFnOutput>();
const OURS = /^.*\/(?:apps|packages)\/[^/]+\//;

const folderOf = (url: string): string => url.slice(0, url.lastIndexOf('/') + 1);
const isOthers = (url: string): boolean => url.includes('/node_modules/');
const homeOf = (url: string): string => (isOthers(url) ? undefined : OURS.exec(url)?.[0]) ?? folderOf(url);

module.registerHooks({
  resolve(specifier, context, next) {
    const { parentURL = '', conditions, importAttributes } = context;
    const isPlain = conditions.includes('import') && importAttributes['type'] === undefined;
    if (!isPlain || !parentURL.startsWith('file:') || specifier.startsWith('node:')) return next(specifier, context);
    if (specifier.startsWith('.')) {
      const { href: url } = new URL(specifier, parentURL);
      if (!isOthers(parentURL) && url.endsWith('.ts')) return { url, format: 'module-typescript', shortCircuit: true };
      if (isOthers(parentURL) && /\.m?js$/.test(url)) return { url, shortCircuit: true };
      return next(specifier, context);
    }
    const key = `${homeOf(parentURL)} ${specifier}`;
    const known = found.get(key) ?? next(specifier, context);
    found.set(key, known);
    return { ...known, shortCircuit: true };
  },
});
