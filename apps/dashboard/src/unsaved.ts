import { forget, keep, kept } from './keeping.ts';

/** What was typed into a form and not saved, for as long as what it began with is the same. */

const keyOf = (name: string): string => `unsaved:${name}`;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isAlike = (one: unknown, other: unknown): boolean =>
  one === null || other === null || one === undefined
    ? true
    : typeof one === typeof other && Array.isArray(one) === Array.isArray(other);

/** Undefined: nothing was left, or it was for something that has changed since. */
export function unsavedIn<T extends object>(name: string, initial: T): T | undefined {
  const found = kept(keyOf(name));
  if (!isObject(found) || found['base'] !== JSON.stringify(initial) || !isObject(found['value'])) return undefined;
  const value = found['value'];
  const fields = Object.entries(initial).map(([field, was]) => {
    const now = Object.hasOwn(value, field) ? value[field] : was;
    return [field, isAlike(was, now) ? now : was];
  });
  return Object.fromEntries(fields) as T;
}

export function keepUnsaved<T extends object>(name: string, initial: T, value: T): void {
  if (JSON.stringify(value) === JSON.stringify(initial)) forget(keyOf(name));
  else keep(keyOf(name), { base: JSON.stringify(initial), value });
}

export const forgetUnsaved = (name: string): void => forget(keyOf(name));
