import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The project's own sources, as tests look at them. */

export interface Source {
  /** From the project's root, with forward slashes. */
  path: string;
  text: string;
}

export interface Import {
  from: string;
  specifier: string;
  /** The file it means, when it is one of ours and given by a relative path or one of those that tests share. */
  file: string | undefined;
  /** It is not loaded but started, by its address: a thread, or a program of its own. */
  isStarted: boolean;
}

const IMPORT =
  /(?:^|[\n;])\s*(?:import|export)\s(?:[^'"`;]*?\sfrom\s+)?['"]([^'"\n]+)['"]|\bimport\(\s*['"]([^'"\n]+)['"]\s*\)/g;

const STARTED = /\bnew URL\(\s*'(\.[^'\n]*\.m?tsx?)',\s*import\.meta\.url/g;

export function importsOf({ path: from, text }: Source): Import[] {
  const named = (specifier: string, isStarted: boolean): Import => ({
    from,
    specifier,
    file: fileOf(from, specifier),
    isStarted,
  });
  return [
    ...[...text.matchAll(IMPORT)].map((match) => named(match[1] ?? match[2] ?? '', false)),
    ...[...text.matchAll(STARTED)].map(([, specifier = '']) => named(specifier, true)),
  ];
}

function fileOf(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(from), specifier);
  const shared = /^@troupe\/testing\/(.+)/.exec(specifier)?.[1];
  return shared && `packages/testing/src/${shared}.ts`;
}

const SEEN = ['packages', 'apps', 'tests', 'bench', 'scripts'];
const SKIPPED = new Set(['node_modules', 'dist']);

export function readSources(root: string): Source[] {
  const walk = (folder: string): Source[] =>
    readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const file = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : walk(file);
      if (!/\.(tsx?|mjs)$/.test(entry.name) || /\.gen\.(d\.m)?ts$/.test(entry.name)) return [];
      return [{ path: file, text: readFileSync(path.join(root, file), 'utf8') }];
    });
  const present = new Set(readdirSync(root));
  return SEEN.filter((folder) => present.has(folder)).flatMap(walk);
}
