import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestUrl, sameSecret } from '@troupe/kernel';
import type { Channel, ChannelDeps, ChannelKind } from './channel.ts';
import { createDiscord } from './discord.ts';
import { createTelegram } from './telegram.ts';
import { createWhatsApp } from './whatsapp.ts';

/** channelA, channelB and channelC of the contract. */
export const CHANNEL_KINDS = { channelA: 'telegram', channelB: 'whatsapp', channelC: 'discord' } as const;

const MAKERS: Record<ChannelKind, (deps: ChannelDeps) => Channel> = {
  telegram: createTelegram,
  whatsapp: createWhatsApp,
  discord: createDiscord,
};

export const createChannel = (kind: ChannelKind, deps: ChannelDeps): Channel => MAKERS[kind](deps);

/** Gives a webhook to the channel whose secret path was called; false: none. */
export async function channelWebhook(
  channels: readonly Channel[],
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const url = requestUrl(path);
  const channel = channels.find(
    ({ webhookPath }) => webhookPath !== undefined && sameSecret(url.pathname, webhookPath),
  );
  if (!channel?.webhook) return false;
  await channel.webhook(request, response, url.searchParams);
  return true;
}
