import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'rolldown';
import { edit } from './later/edit.ts';
import { readFile, type SourceFile } from './later/file.ts';
import { chooseLater, type Chosen } from './later/choose.ts';

/**
 * Schemas of a package are made when somebody asks for them. A start makes ten thousand of them otherwise, which takes a tenth of its
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

interface Package {
  files: Map<string, SourceFile>;
  chosen: Chosen;
}

function readPackage(folder: string): Package {
  const { exports } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as {
    exports: Record<string, string>;
  };
  const files = new Map<string, SourceFile>();
  for (const name of readdirSync(path.join(folder, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts') || name.endsWith('.test.ts')) continue;
    const file = path.join(folder, 'src', name);
    files.set(file, readFile(file, readFileSync(file, 'utf8')));
  }
  const entries = Object.values(exports).map((entry) => path.join(folder, entry));
  return { files, chosen: chooseLater(files, entries) };
}

/** @param folders of packages that do nothing else with what they make when they are loaded */
export function later(folders: readonly string[]): Plugin {
  const packages = folders.map(readPackage);
  return {
    name: 'later',
    resolveId: { filter: { id: /^\0later$/ }, handler: () => HELPERS },
    load: { filter: { id: /^\0later$/ }, handler: () => HELPERS_CODE },
    transform: {
      handler(code, id) {
        const { files, chosen } = packages.find((one) => one.files.has(id)) ?? {};
        const file = files?.get(id);
        if (!file || !chosen) return null;
        if (code !== file.code) throw new Error(`${id} changed while it was put together.`);
        return `import { kept as __kept, later as __later } from ${JSON.stringify(HELPERS)};${edit(file, chosen)}`;
      },
    },
  };
}
