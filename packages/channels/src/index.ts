export { createChannelHost, type ChannelHost, type ChannelHostDeps } from './host.ts';
export { channelWebhook, createChannel, kindOf, readSettings } from './channels.ts';
export type { Channel, ChannelDeps, ChannelKind, ChannelSettings, ChannelStatus } from './channel.ts';
export { sendersIn } from './senders.ts';
export { inWords } from './errors.ts';
