import type { IncomingMessage, ServerResponse } from 'node:http';
import { CHANNEL_NAMES } from '@troupe/contract';
import { AppError, requestUrl, sameSecret } from '@troupe/kernel';
import type { Channel, ChannelDeps, ChannelKind, ChannelSettings, Service } from './channel.ts';
import { inWords } from './errors.ts';
import { openInbox, type Inbox } from './inbox.ts';
import { createStatus, keepListening, type Listening } from './listening.ts';

/** Loaded at first use: most agents have none. */
const MAKERS: Record<ChannelKind, () => Promise<(deps: ChannelDeps) => Service>> = {
  telegram: async () => (await import('./telegram.ts')).createTelegram,
  whatsapp: async () => (await import('./whatsapp.ts')).createWhatsApp,
  discord: async () => (await import('./discord.ts')).createDiscord,
  slack: async () => (await import('./slack/slack.ts')).createSlack,
  email: async () => (await import('./email/email.ts')).createEmail,
};

const HELLO = 'This is a test message: the channel works.';

/** What was sealed: settings by name, or, from an older release, the token alone. */
export function readSettings(opened: string): ChannelSettings {
  return opened.startsWith('{') ? (JSON.parse(opened) as ChannelSettings) : { token: opened };
}

/** The kind behind a name of the contract: channelA, channelB and channelC have names of their own. */
export const kindOf = (name: string): ChannelKind | undefined =>
  (Object.keys(CHANNEL_NAMES) as ChannelKind[]).find((kind) => CHANNEL_NAMES[kind] === name);

export async function createChannel(kind: ChannelKind, deps: ChannelDeps): Promise<Channel> {
  const service = (await MAKERS[kind]())(deps);
  return openChannel(service, deps);
}

/** A service with all that services share. */
function openChannel(service: Service, deps: ChannelDeps): Channel {
  const { kind, webhook } = service;
  const { agent } = deps;
  let inbox: Inbox | undefined;
  let listening: Listening | undefined;

  /** Nobody listens at it: that it answers is all there is to know. */
  async function lookAtIt(): Promise<void> {
    const status = createStatus(kind, deps);
    await service.test().then(
      () => status('listening'),
      (error: unknown) => status('failed', inWords(error)),
    );
  }

  return {
    kind,
    async start() {
      const box = openInbox(service, deps);
      inbox = box;
      await box.recover();
      const { listen } = service;
      if (listen) listening = keepListening(kind, deps, (signal, up) => listen(box, signal, up));
      else void lookAtIt();
      await agent.store.log({ level: 'info', message: 'Channel started.', source: kind });
    },
    async stop() {
      await listening?.stop();
      await inbox?.settle();
    },
    async test(to) {
      const account = await service.test();
      if (to !== undefined) await service.tell(to, HELLO);
      return account;
    },
    ...(webhook && {
      webhookPath: webhook.path,
      async webhook(request: IncomingMessage, response: ServerResponse, query: URLSearchParams) {
        if (!inbox) throw new AppError(503, 'The channel is not started');
        await webhook.answer(inbox, request, response, query);
      },
    }),
  };
}

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
