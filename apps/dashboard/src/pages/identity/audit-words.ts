import type { web, TypesOf } from '@troupe/contract';
import { address as shortAddress } from '../../format.ts';
import { audit as texts } from '../../texts/account.ts';

export type Entry = TypesOf<typeof web.audit.list>['reply']['entries'][number];

/** Ids say nothing to people; the address has a column of its own, and so has who it was. */
const HIDDEN = new Set(['id', 'agentId', 'paymentId', 'ip', 'userId', 'currency']);

const wordOf = (value: unknown) =>
  Array.isArray(value)
    ? value.map(String).map(shortAddress).join(', ')
    : typeof value === 'string' && value.startsWith('0x')
      ? shortAddress(value)
      : typeof value === 'object'
        ? JSON.stringify(value)
        : String(value);

/** What an entry says beside who, what and when. */
export const words = ({ detail, email }: Entry) =>
  Object.entries(detail)
    .filter(([key, value]) => !HIDDEN.has(key) && value !== null && value !== 'default' && value !== email)
    .map(([key, value]) => `${texts.fields[key] ?? key}: ${wordOf(value)}`)
    .join(', ');

/** An action without words of its own: `key-created` is "Key created". */
export const sentence = (action: string) => action.charAt(0).toUpperCase() + action.slice(1).replaceAll(/[-_.]/g, ' ');

/** Whoever did it: an administrator, the user, or nobody but the platform. */
export const actorOf = ({ actorId, actorEmail, email }: Entry) =>
  actorId === null ? (email ?? '–') : (actorEmail ?? texts.gone);
