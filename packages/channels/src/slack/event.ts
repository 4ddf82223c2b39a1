import type { ChannelMessage } from '@troupe/agent';

/** An event of Slack, by either way, and the message in it. */

export interface SlackEvent {
  type?: string;
  subtype?: string;
  channel?: string;
  channel_type?: string;
  user?: string;
  bot_id?: string;
  text?: string;
  ts?: string;
  thread_ts?: string;
  files?: {
    id?: string;
    name?: string;
    size?: number;
    mode?: string;
    url_private_download?: string;
    url_private?: string;
  }[];
}

const plain = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&').trim();

/** Undefined: it is not for us. A mention comes as two events; both have the id of the one message. */
export function readEvent(event: SlackEvent, self: string): ChannelMessage | undefined {
  const { type, subtype, channel, user, ts, text = '' } = event;
  const isMessage =
    type === 'app_mention' || (type === 'message' && (subtype === undefined || subtype === 'file_share'));
  if (!isMessage || !channel || !user || !ts || event.bot_id !== undefined || user === self) return undefined;
  const isDirect = event.channel_type === 'im' || channel.startsWith('D');
  const mention = `<@${self}>`;
  if (!isDirect && type !== 'app_mention' && !text.includes(mention)) return undefined;
  // In a channel each mention begins a thread of its own; a direct conversation is one, but for threads in it.
  const thread = event.thread_ts ?? (isDirect ? '' : ts);
  const files = (event.files ?? []).flatMap(({ id = '', name, size, mode, ...urls }) => {
    const ref = urls.url_private_download ?? urls.url_private;
    if (ref === undefined || mode === 'external' || mode === 'tombstone') return [];
    return [{ ref, name: name ?? `file-${id}`, ...(size !== undefined && { bytes: size }) }];
  });
  return {
    id: `${channel}:${ts}`,
    chat: thread === '' ? channel : `${channel}:${thread}`,
    sender: user,
    text: plain(text.replaceAll(mention, '')),
    files,
    extra: { channel, thread },
  };
}
