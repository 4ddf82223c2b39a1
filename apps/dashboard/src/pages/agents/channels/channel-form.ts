import { CHANNEL_FIELDS, type AgentChannel, type ChannelReceipt } from '@troupe/contract';

/** What is typed to set up a channel. */
export interface ChannelForm {
  values: Record<string, string>;
  allowed: string;
}

/** Begins with what may be seen; secrets stay unless another is typed. */
export const formOf = ({ settings, allowed }: Pick<AgentChannel, 'settings' | 'allowed'>): ChannelForm => ({
  values: { ...settings },
  allowed: allowed.join('\n'),
});

const linesOf = (text: string): string[] => text.split(/[\s,;]+/).filter((line) => line !== '');

/** What is sent: an empty secret is left out, so that it stays; anything else that is empty goes. */
export function channelBody(
  { kind, secrets }: Pick<AgentChannel, 'kind' | 'secrets'>,
  { values, allowed }: ChannelForm,
) {
  const given = CHANNEL_FIELDS[kind].flatMap(({ name, isSecret }) => {
    const value = (values[name] ?? '').trim();
    return isSecret && value === '' && secrets.includes(name) ? [] : [[name, value] as const];
  });
  return { settings: Object.fromEntries(given), allowed: linesOf(allowed) };
}

/** One more who may write. */
export const withSender = ({ allowed }: Pick<AgentChannel, 'allowed'>, sender: string) => ({
  settings: {},
  allowed: [...new Set([...allowed, sender])],
});

/** Where a message goes to reach whoever wrote that one. A conversation in a group has its own part after a colon. */
export const chatOf = ({ channel, sender, chat }: Pick<ChannelReceipt, 'channel' | 'sender' | 'chat'>): string =>
  channel === 'email' ? sender : (chat.split(':')[0] ?? '');

/** Opens the talk with the agent there; undefined: the service has no such address. */
export const linkTo = (kind: AgentChannel['kind'], account: string): string | undefined =>
  kind === 'telegram' && /^@\w{1,64}$/.test(account) ? `https://t.me/${account.slice(1)}` : undefined;
