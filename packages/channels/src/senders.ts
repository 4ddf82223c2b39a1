import type { ChannelSettings } from './channel.ts';

/** Who may write, as the owner entered it: one to a line, or with commas. */
export const sendersIn = ({ allowed = '' }: ChannelSettings): string[] =>
  allowed.split(/[\s,;]+/).filter((one) => one !== '');
