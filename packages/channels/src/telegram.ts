import type { ChannelFile, ChannelMessage } from '@troupe/agent';
import { formWith, download, jsonOf, tryLater } from './http.ts';
import type { ChannelDeps, Part, Post, Service } from './channel.ts';
import { TokenRefused, Trouble, Undeliverable } from './errors.ts';

/** Telegram's Bot API by long polling: no public address is needed. In groups it speaks when it is spoken to. */

const MAX_TEXT = 4096;
/** What the Bot API lets bots fetch. */
const MOST_FILE_BYTES = 20 * 1024 * 1024;
const CONFLICT_MS = 60_000;

interface Entity {
  type: string;
  offset: number;
  length: number;
  user?: { id: number };
}

interface TelegramFile {
  file_id: string;
  file_size?: number;
  file_name?: string;
  mime_type?: string;
}

interface Message {
  message_id: number;
  message_thread_id?: number;
  /** Pictures that were sent together are messages of their own; the first has the words. */
  media_group_id?: string;
  is_topic_message?: boolean;
  chat: { id: number; type?: string };
  from?: { id: number; is_bot?: boolean };
  text?: string;
  caption?: string;
  entities?: Entity[];
  caption_entities?: Entity[];
  /** In a topic each message answers the one that began it, unless it answers another. */
  reply_to_message?: { from?: { id: number }; forum_topic_created?: object };
  photo?: TelegramFile[];
  voice?: TelegramFile;
  audio?: TelegramFile;
  video?: TelegramFile;
  video_note?: TelegramFile;
  document?: TelegramFile;
  sticker?: { emoji?: string };
}

interface Self {
  id: number;
  username: string;
}

type Call = <T>(method: string, body: object, signal?: AbortSignal) => Promise<T>;

/** The extension where Telegram gives no name. */
const ENDINGS = { photo: 'jpg', voice: 'ogg', audio: 'mp3', video: 'mp4', video_note: 'mp4', document: 'bin' } as const;

function filesOf(message: Message): ChannelFile[] {
  return (Object.keys(ENDINGS) as (keyof typeof ENDINGS)[]).flatMap((kind) => {
    // Of a photo there are several sizes, the largest last.
    const file = kind === 'photo' ? message.photo?.at(-1) : message[kind];
    if (!file) return [];
    const name = file.file_name ?? `${kind}-${message.message_id}.${ENDINGS[kind]}`;
    return [{ ref: file.file_id, name, ...(file.file_size !== undefined && { bytes: file.file_size }) }];
  });
}

/** Whether a message of a group is for us: by name, as an answer to us, or as a command with our name. */
function isAddressed(message: Message, text: string, self: Self): boolean {
  const { reply_to_message: answered } = message;
  if (answered?.from?.id === self.id && !answered.forum_topic_created) return true;
  const name = `@${self.username.toLowerCase()}`;
  return [...(message.entities ?? []), ...(message.caption_entities ?? [])].some(({ type, offset, length, user }) => {
    const said = text.slice(offset, offset + length).toLowerCase();
    if (type === 'mention') return said === name;
    if (type === 'bot_command') return said.endsWith(name);
    return type === 'text_mention' && user?.id === self.id;
  });
}

/** Without our own name, wherever it stands. */
function withoutName(text: string, { username }: Self): string {
  const name = `@${username}`.toLowerCase();
  let rest = text;
  for (let at = rest.toLowerCase().indexOf(name); at >= 0; at = rest.toLowerCase().indexOf(name))
    rest = rest.slice(0, at) + rest.slice(at + name.length);
  return rest.trim();
}

interface Album {
  /** The last one that was for us. */
  ours: string | undefined;
}

function read(message: Message, self: Self, album: Album): ChannelMessage | undefined {
  const { chat, from, message_id: id, media_group_id: group } = message;
  if (!from || from.is_bot) return undefined;
  const text = message.text ?? message.caption ?? message.sticker?.emoji ?? '';
  const isGroup = chat.type === 'group' || chat.type === 'supergroup';
  const isOfOurs = group !== undefined && group === album.ours;
  if (isGroup && !isOfOurs && !isAddressed(message, text, self)) return undefined;
  album.ours = group;
  const thread = message.is_topic_message === true ? message.message_thread_id : undefined;
  return {
    id: `${chat.id}:${id}`,
    chat: thread === undefined ? String(chat.id) : `${chat.id}:${thread}`,
    sender: String(from.id),
    text: isGroup ? withoutName(text, self) : text,
    files: filesOf(message),
    extra: {
      chat: String(chat.id),
      reply: isGroup ? String(id) : '',
      thread: thread === undefined ? '' : String(thread),
    },
  };
}

/** Ends with the signal. */
async function listen(call: Call, post: Post, pollSeconds: number, signal: AbortSignal, up: () => void): Promise<void> {
  const self = await call<Self>('getMe', {}, signal);
  let offset = Number((await post.remembered('offset')) ?? 0);
  const album: Album = { ours: undefined };
  for (;;) {
    const asked = { offset, timeout: pollSeconds, allowed_updates: ['message'] };
    const updates = await call<{ update_id: number; message?: Message }[]>('getUpdates', asked, signal);
    up();
    for (const { update_id: id, message } of updates) {
      const said = message && read(message, self, album);
      if (said) await post.take(said);
      // The next look tells Telegram that everything below is ours.
      offset = id + 1;
      await post.remember('offset', offset);
    }
    signal.throwIfAborted();
  }
}

interface Refusal {
  description?: string;
  parameters?: { retry_after?: number };
}

function refused(status: number, { description = '', parameters = {} }: Refusal): Error {
  if (status === 401 || status === 404) return new TokenRefused('Telegram refused the token');
  if (status === 429) return tryLater('Telegram', parameters.retry_after);
  if (status === 409)
    return new Trouble(
      /webhook/i.test(description)
        ? 'Another program has set a webhook for this bot, so its messages go there. Remove it there (deleteWebhook), or use another bot'
        : 'Another program reads this bot’s messages too. End it, or use another bot',
      CONFLICT_MS,
    );
  if (status === 400 || status === 403) return new Undeliverable(`Telegram: ${description || status}`);
  return new Trouble(`Telegram answered ${status}`);
}

/** Where an answer goes, and to what. An older release kept the chat alone. */
function target({ chat, extra = {} }: Pick<ChannelMessage, 'chat' | 'extra'>, index: number): Record<string, unknown> {
  const { chat: id = chat, thread = '', reply = '' } = extra;
  return {
    chat_id: Number(id),
    ...(thread !== '' && { message_thread_id: Number(thread) }),
    ...(reply !== '' &&
      index === 0 && { reply_parameters: { message_id: Number(reply), allow_sending_without_reply: true } }),
  };
}

export function createTelegram(deps: ChannelDeps): Service {
  const { settings, outbound, baseUrl = 'https://api.telegram.org', pollSeconds = 8 } = deps;
  const { token = '' } = settings;
  const timeout = (pollSeconds + 10) * 1000;

  async function ask<T>(method: string, request: Parameters<typeof outbound.fetch>[1]): Promise<T> {
    const response = await outbound.fetch(`${baseUrl}/bot${token}/${method}`, { method: 'POST', timeout, ...request });
    const answer = await jsonOf(response);
    if (response.status === 200 && answer['ok'] === true) return answer['result'] as T;
    throw refused(response.status, answer as Refusal);
  }
  const call: Call = (method, body, signal) =>
    ask(method, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });

  async function send(message: Pick<ChannelMessage, 'chat' | 'extra'>, { index, text, files }: Part): Promise<void> {
    const where = target(message, index);
    if (text !== '') await call('sendMessage', { ...where, text });
    for (const file of files) {
      const fields = Object.entries(where).map(([name, value]) => [
        name,
        typeof value === 'object' ? JSON.stringify(value) : String(value),
      ]);
      const { headers, body } = formWith(Object.fromEntries(fields), { name: file.name, field: 'document' }, file);
      await ask('sendDocument', { headers, ...(body && { body }), timeout: 120_000 });
    }
  }

  return {
    kind: 'telegram',
    maxText: MAX_TEXT,
    test: async () => `@${(await call<Self>('getMe', {})).username}`,
    tell: (to, text) => send({ chat: to }, { index: 0, text, files: [] }),
    send,
    async fetchFile({ ref, bytes = 0 }) {
      if (bytes > MOST_FILE_BYTES) throw new Undeliverable('Telegram gives bots files up to 20 MB');
      const { file_path: path } = await call<{ file_path?: string }>('getFile', { file_id: ref });
      if (path === undefined) throw new Undeliverable('Telegram does not give it');
      return download(outbound, `${baseUrl}/file/bot${token}/${path}`);
    },
    listen: (post, signal, up) => listen(call, post, pollSeconds, signal, up),
  };
}
