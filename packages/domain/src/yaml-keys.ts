import { isAlias, isCollection, isMap, isScalar, type Document } from 'yaml';

/** A key that stands twice in one map. The library's own check compares each with each. */
export function repeatedKey({ contents }: Document): string | undefined {
  const waiting: unknown[] = [contents];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (!isCollection(node)) continue;
    if (!isMap(node)) {
      for (const item of node.items) waiting.push(item);
      continue;
    }
    const seen = new Set<string>();
    for (const { key, value } of node.items) {
      const name = isScalar(key) || isAlias(key) ? String(isScalar(key) ? key.value : key.source) : undefined;
      if (name !== undefined && seen.has(name)) return name;
      if (name !== undefined) seen.add(name);
      waiting.push(key, value);
    }
  }
  return undefined;
}
