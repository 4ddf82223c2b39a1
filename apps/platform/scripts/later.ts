import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'rolldown';
import { edit } from './later/edit.ts';
import { readFile, type SourceFile } from './later/file.ts';
import { chooseLater } from './later/choose.ts';

/**
 * Schemas of a package are made when somebody asks for them. A start makes eight thousand of them otherwise, which takes a tenth of its
 * time and of its memory, and most are for endpoints that nobody calls that day. The source says `const task = z.object(…)` and
 * `body: z.object(…)`; what is put together has a function in place of the first, which its users call, and a getter in place of
 * the second. That is the same, because making a schema does nothing else. See docs/adr/0157.
 */

const HELPERS = '\0later';
const HELPERS_CODE = `
export function later(make) {
  let made;
  return () => (made ??= make());
}
export function kept(owner, key, value) {
  Object.defineProperty(owner, key, { value, enumerable: true, configurable: true, writable: true });
  return value;
}`;

/** @param root where the sources of the package lie */
export function later(root: string): Plugin {
  const files = new Map<string, SourceFile>();
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts') || name.endsWith('.test.ts')) continue;
    const file = path.join(root, name);
    files.set(file, readFile(file, readFileSync(file, 'utf8')));
  }
  const chosen = chooseLater(files);
  return {
    name: 'later',
    resolveId: { filter: { id: /^\0later$/ }, handler: () => HELPERS },
    load: { filter: { id: /^\0later$/ }, handler: () => HELPERS_CODE },
    transform: {
      handler(code, id) {
        const file = files.get(id);
        if (!file) return null;
        if (code !== file.code) throw new Error(`${id} changed while it was put together.`);
        return `import { kept as __kept, later as __later } from ${JSON.stringify(HELPERS)};${edit(file, chosen)}`;
      },
    },
  };
}
