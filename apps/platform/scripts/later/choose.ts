import { isFunction, isNode, nameOf, parts, type Node, type SourceFile } from './file.ts';

/** Which constants of a package are made later: those that are schemas or hold some, and that only files of the package know. */

export interface Chosen {
  /** Whether this name of this file is called to have its value. */
  isLater: (file: SourceFile, name: string) => boolean;
  /** Whether this makes schemas when it runs, itself or by what it uses. */
  makes: (file: SourceFile, node: Node) => boolean;
}

const keyOf = (file: string, name: string): string => `${file}\0${name}`;

/** @param entries files by which others use the package */
export function chooseLater(files: ReadonlyMap<string, SourceFile>, entries: readonly string[]): Chosen {
  const kept = keptAsTheyAre(files, entries);
  const makers = new Set<string>();
  const originOf = (source: SourceFile, name: string): string => {
    const imported = source.imports.get(name);
    return imported ? keyOf(imported.file, imported.name) : keyOf(source.file, name);
  };

  /** What is within a function counts where it is called, unless `deep`. */
  const makes = (source: SourceFile, node: Node, deep = false): boolean => {
    if (node.type === 'Identifier') return nameOf(node) === source.zod || makers.has(originOf(source, nameOf(node)));
    if (isFunction(node) && !deep) return false;
    return usedBy(node).some((part) => makes(source, part, deep));
  };

  // Who uses what makes schemas makes some, until nobody is found any more.
  for (let before = -1; before !== makers.size;) {
    before = makers.size;
    for (const [file, source] of files) {
      for (const [name, init] of source.constants) if (makes(source, init)) makers.add(keyOf(file, name));
      for (const [name, body] of source.functions) if (makes(source, body, true)) makers.add(keyOf(file, name));
    }
  }

  return {
    makes,
    isLater(source, name) {
      const origin = originOf(source, name);
      const [file = '', original = ''] = origin.split('\0');
      return makers.has(origin) && !kept.has(origin) && files.get(file)?.constants.has(original) === true;
    },
  };
}

/** What others may know by its name, and what has a name that means two things. */
function keptAsTheyAre(files: ReadonlyMap<string, SourceFile>, entries: readonly string[]): Set<string> {
  const kept = new Set<string>();
  for (const entry of entries) for (const name of files.get(entry)?.exported ?? []) kept.add(keyOf(entry, name));
  for (const [file, source] of files) {
    for (const name of source.shadowed) {
      const imported = source.imports.get(name);
      kept.add(imported ? keyOf(imported.file, imported.name) : keyOf(file, name));
    }
    for (const passed of source.passedOn) {
      const names = passed.name === '*' ? [...(files.get(passed.file)?.exported ?? [])] : [passed.name];
      for (const name of names) {
        const imported = files.get(passed.file)?.imports.get(name);
        kept.add(imported ? keyOf(imported.file, imported.name) : keyOf(passed.file, name));
      }
    }
  }
  return kept;
}

/** The parts of a node without names that are no variables: those of fields. */
export function usedBy(node: Node): Node[] {
  const { key, property, computed, value } = node as {
    key?: unknown;
    property?: unknown;
    computed?: unknown;
    value?: unknown;
  };
  if (computed === true) return parts(node);
  if (isNode(key)) return isNode(value) ? parts(node).filter((part) => part !== key) : [];
  return isNode(property) ? parts(node).filter((part) => part !== property) : parts(node);
}
