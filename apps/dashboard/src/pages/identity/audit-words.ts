import type { web, TypesOf } from '@troupe/contract';
import { address as shortAddress } from '../../format.ts';
import { audit as texts } from '../../texts/account.ts';

export type Entry = TypesOf<typeof web.audit.list>['reply']['entries'][number];

/** Ids say nothing to people; the address has a column of its own, and so has who it was. */
const HIDDEN = new Set(['id', 'agentId', 'paymentId', 'ip', 'userId', 'currency']);

/** `someField` is "some field". */
const spaced = (key: string) => key.replaceAll(/(?<=[a-z])(?=[A-Z])|[-_.]/g, ' ').toLowerCase();
const labelOf = (key: string): string => texts.fields[key] ?? spaced(key);

function wordOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(wordOf).join(', ');
  if (typeof value === 'string') return value.startsWith('0x') ? shortAddress(value) : (texts.values[value] ?? value);
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .filter(([, part]) => part !== null)
    .map(([key, part]) => `${labelOf(key)}: ${wordOf(part)}`)
    .join(', ');
}

/** What an entry says beside who, what and when: what it is called, and what it is. */
export const pairs = ({ detail, email }: Entry): [label: string, value: string][] =>
  Object.entries(detail)
    .filter(([key, value]) => !HIDDEN.has(key) && value !== null && value !== 'default' && value !== email)
    // What it was stands before what it became; else in the order of the entry.
    .sort(([a], [b]) => (a === 'from' ? -1 : b === 'from' ? 1 : 0))
    .map(([key, value]) => [labelOf(key), wordOf(value)]);

/** An action without words of its own: `key-created` is "Key created". */
export const sentence = (action: string) => action.charAt(0).toUpperCase() + action.slice(1).replaceAll(/[-_.]/g, ' ');

/** Whoever did it: an administrator, the user, or nobody but the platform. */
export const actorOf = ({ actorId, actorEmail, email }: Entry) =>
  actorId === null ? (email ?? '–') : (actorEmail ?? texts.gone);
