/** Deeper values are refused: they come from outside, and must not exhaust the stack. */
const MAX_DEPTH = 100;

/** JSON in the one form of RFC 8785: equal values have equal texts, so that they can be hashed and signed. */
export const canonicalJson = (value: unknown): string => text(value, 0);

function text(value: unknown, depth: number): string {
  if (depth > MAX_DEPTH) throw new TypeError('a value nested that deep has no canonical JSON');
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw new TypeError('a text with half a surrogate pair has no canonical JSON');
    return JSON.stringify(value);
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`${value} has no canonical JSON`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map((member) => text(member, depth + 1)).join(',')}]`;
  if (typeof value !== 'object') throw new TypeError(`${typeof value} has no canonical JSON`);
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  // The default order of sort is by UTF-16 code units, which is what the RFC asks for.
  const names = new Map(entries);
  const members = [...names.keys()].sort().map((name) => `${text(name, depth)}:${text(names.get(name), depth + 1)}`);
  return `{${members.join(',')}}`;
}
