/** How two JSON values differ, as a list of places: easier to read than lines of text. */
export interface Difference {
  path: string;
  before: unknown;
  after: unknown;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const own = (object: Record<string, unknown>, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : undefined;

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

export function differences(before: unknown, after: unknown, path = ''): Difference[] {
  if (isObject(before) && isObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys.flatMap((key) => differences(own(before, key), own(after, key), path ? `${path}.${key}` : key));
  }
  return isSame(before, after) ? [] : [{ path, before, after }];
}

/** What made `after` of `before`, made of `now`: what differs only there stays as it is there. */
export function rebased(before: unknown, after: unknown, now: unknown): unknown {
  if (!isObject(before) || !isObject(after) || !isObject(now)) return isSame(before, after) ? now : after;
  const entries = new Map(Object.entries(now));
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (!Object.hasOwn(after, key)) entries.delete(key);
    else if (!isSame(own(before, key), own(after, key)))
      entries.set(key, rebased(own(before, key), own(after, key), own(now, key)));
  }
  return Object.fromEntries(entries);
}

/** Of each section only the fields that differ. One that went is not named: who layers them has no word for that. */
export function changedFields(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): Record<string, unknown> {
  const changed = (of: Record<string, unknown>, to: Record<string, unknown>) =>
    Object.entries(to).filter(([key, value]) => !isSame(own(of, key), value));
  const sections = changed(before, after).map(([key, value]) => {
    const was = own(before, key);
    return [key, isObject(was) && isObject(value) ? Object.fromEntries(changed(was, value)) : value] as const;
  });
  return Object.fromEntries(sections);
}
