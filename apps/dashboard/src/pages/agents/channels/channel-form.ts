import { CHANNEL_FIELDS, type AgentChannel } from '@troupe/contract';

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
