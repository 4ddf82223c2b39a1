import type { ChannelFile, ChannelMessage } from '@troupe/agent';
import { sha256Hex } from '@troupe/kernel';
import type { ChannelDeps, OutgoingFile, Post, Service } from '../channel.ts';
import { TokenRefused, Trouble, Undeliverable } from '../errors.ts';
import { download, jsonOf, tryLater } from '../http.ts';
import { readEvent, type SlackEvent } from './event.ts';
import { listenBySocket } from './socket-mode.ts';
import { answerEvents } from './events-api.ts';

/**
 * Slack: events by Socket Mode (an app-level token, no public address) or by the Events API (signed requests); answers
 * over the Web API, in the thread of the message. In channels it speaks when it is mentioned.
 */

const MAX_TEXT = 3900;
const REFUSED = new Set(
  'invalid_auth not_authed account_inactive token_revoked token_expired no_permission not_allowed_token_type'.split(
    ' ',
  ),
);
const NEVER = new Set(
  'channel_not_found is_archived not_in_channel cannot_dm_bot user_not_found msg_too_long no_text restricted_action'.split(
    ' ',
  ),
);

export type Api = (method: string, args: Record<string, unknown>, token?: string) => Promise<Record<string, unknown>>;

/** Slack gives its marks a meaning: words are words. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function refused(error: string, needed: unknown): Error {
  if (REFUSED.has(error)) return new TokenRefused(`Slack refused the token (${error})`);
  if (error === 'missing_scope')
    return new Trouble(`The Slack app lacks a permission (scope): ${String(needed)}`, 300_000);
  if (NEVER.has(error)) return new Undeliverable(`Slack: ${error}`);
  return new Trouble(`Slack: ${error}`);
}

const formOf = (args: Record<string, unknown>): string => {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(args))
    form.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  return form.toString();
};

function createApi({ settings, outbound }: ChannelDeps, baseUrl: string): Api {
  return async (method, args, token = settings['botToken'] ?? '') => {
    const response = await outbound.fetch(`${baseUrl}/${method}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-www-form-urlencoded' },
      body: formOf(args),
    });
    const answer = await jsonOf(response);
    if (response.status === 429) throw tryLater('Slack', response.headers['retry-after']);
    if (response.status >= 400) throw new Trouble(`Slack answered ${response.status}`);
    if (answer['ok'] !== true) throw refused(String(answer['error'] ?? 'no answer'), answer['needed']);
    return answer;
  };
}

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

const isSlacks = (address: string): boolean => {
  const url = URL.parse(address);
  return url?.protocol === 'https:' && /(?:^|\.)slack\.com$/.test(url.hostname);
};

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

  const target = ({ extra = {}, chat }: Pick<ChannelMessage, 'extra' | 'chat'>): Record<string, string> => ({
    channel: extra['channel'] ?? chat,
    ...(extra['thread'] ? { thread_ts: extra['thread'] } : {}),
  });

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
      if (!isSlacks(ref) && !ref.startsWith(new URL(baseUrl).origin)) throw new Undeliverable('it is not at Slack');
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
