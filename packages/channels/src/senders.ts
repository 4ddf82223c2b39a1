import type { ChannelSettings } from './channel.ts';

/** Who may write, as the owner entered it: one to a line, or with commas. */
export const sendersIn = ({ allowed = '' }: ChannelSettings): string[] =>
  allowed.split(/[\s,;]+/).filter((one) => one !== '');

/** Those who are named one by one: no domain, and not everybody. */
export const namedIn = (senders: readonly string[]): ReadonlySet<string> =>
  new Set(senders.filter((one) => one !== '*' && !one.startsWith('@')).map((one) => one.toLowerCase()));
