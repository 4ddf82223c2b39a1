import type { ChannelFile, ChannelMessage } from '@troupe/agent';
import { ADDRESS_LENGTH } from '@troupe/domain';
import { sha256Hex } from '@troupe/kernel';
import type { ChannelDeps, OutgoingFile, Post, Service } from '../channel.ts';
import { Trouble, Undeliverable } from '../errors.ts';
import { download } from '../http.ts';
import { createApi, type Api } from './api.ts';
import { readEvent, type SlackEvent } from './event.ts';
import { listenBySocket } from './socket-mode.ts';
import { answerEvents } from './events-api.ts';

/**
 * Slack: events by Socket Mode (an app-level token, no public address) or by the Events API (signed requests); answers
 * over the Web API, in the thread of the message. In channels it speaks when it is mentioned.
 */

const MAX_TEXT = 3900;
/** Slack gives its marks a meaning: words are words. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

interface Self {
  userId: string;
  name: string;
  team: string;
}

/** Who we are, asked once. */
function createSelf(api: Api) {
  let known: Promise<Self> | undefined;
  const ask = async (): Promise<Self> => {
    const { user_id: userId, user, team } = await api('auth.test', {});
    return { userId: String(userId), name: String(user), team: String(team) };
  };
  return (): Promise<Self> =>
    (known ??= ask().catch((error: unknown) => {
      known = undefined;
      throw error;
    }));
}

export const slackSecret = (botToken: string): string => sha256Hex(`slack webhook ${botToken}`).slice(0, 32);

const isSlacks = (address: string, baseUrl: string): boolean => {
  // Whoever has the secret signs events with any address; to read a host takes the square of its length.
  const url = address.length > ADDRESS_LENGTH ? null : URL.parse(address);
  if (!url || url.username !== '') return false;
  return (
    url.origin === new URL(baseUrl).origin || (url.protocol === 'https:' && /(?:^|\.)slack\.com$/.test(url.hostname))
  );
};

const target = ({ extra = {}, chat }: Pick<ChannelMessage, 'extra' | 'chat'>): Record<string, string> => ({
  channel: extra['channel'] ?? chat,
  ...(extra['thread'] ? { thread_ts: extra['thread'] } : {}),
});

export function createSlack(deps: ChannelDeps): Service {
  const { settings, outbound, baseUrl = 'https://slack.com/api', now = () => new Date() } = deps;
  const { botToken = '', appToken, signingSecret } = settings;
  const api = createApi(deps, baseUrl);
  const self = createSelf(api);

  async function hear(post: Post, event: SlackEvent): Promise<void> {
    const said = readEvent(event, (await self()).userId);
    if (said) await post.take(said);
  }

  async function upload(where: Record<string, string>, { name, bytes }: OutgoingFile): Promise<void> {
    const { upload_url: url, file_id: id } = await api('files.getUploadURLExternal', {
      filename: name,
      length: String(bytes.length),
    });
    const headers = { 'content-type': 'application/octet-stream' };
    const stored = await outbound.fetch(String(url), { method: 'POST', headers, body: bytes, timeout: 120_000 });
    stored.cancel();
    if (stored.status >= 400) throw new Trouble(`Slack did not take a file (${stored.status})`);
    const { channel = '', ...thread } = where;
    await api('files.completeUploadExternal', { files: [{ id, title: name }], channel_id: channel, ...thread });
  }

  return {
    kind: 'slack',
    maxText: MAX_TEXT,
    async test() {
      const { name, team } = await self();
      if (appToken !== undefined) await api('apps.connections.open', {}, appToken);
      return `${name} (${team})`;
    },
    tell: async (to, text) => void (await api('chat.postMessage', { channel: to, text: escaped(text) })),
    async send(message, { text, files }) {
      const where = target(message);
      if (text !== '') await api('chat.postMessage', { ...where, text: escaped(text), unfurl_links: 'false' });
      for (const file of files) await upload(where, file);
    },
    fetchFile({ ref }: ChannelFile) {
      // The token goes to Slack and to nobody else, whatever an event says.
      if (!isSlacks(ref, baseUrl)) throw new Undeliverable('it is not at Slack');
      return download(outbound, ref, { authorization: `Bearer ${botToken}` });
    },
    ...(appToken !== undefined && {
      listen: (post: Post, signal: AbortSignal, up: () => void) =>
        listenBySocket({ api, appToken, outbound, hear: (event) => hear(post, event) }, signal, up),
    }),
    ...(signingSecret !== undefined && {
      webhook: {
        path: `/channels/slack/${slackSecret(botToken)}`,
        answer: (post, request, response) =>
          answerEvents({ signingSecret, now, hear: (event) => hear(post, event) }, request, response),
      },
    }),
  };
}
