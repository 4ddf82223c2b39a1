import { once } from 'node:events';
import { WebSocket } from 'ws';
import { pieces, TokenRefused, type Channel, type ChannelDeps } from './channel.ts';
import { openInbox, type Inbox } from './inbox.ts';
import { keepListening, type Listening } from './listening.ts';

/** Discord: events over its gateway's WebSocket, answers over its REST API. In servers it speaks when it is mentioned. */

const MAX_TEXT = 2000;
/** Guild messages, direct messages, and what they say. */
const INTENTS = (1 << 9) | (1 << 12) | (1 << 15);
const OP = { dispatch: 0, heartbeat: 1, identify: 2, resume: 6, reconnect: 7, invalid: 9, hello: 10, ack: 11 };
const REFUSED_CLOSE_CODES = new Set([4004, 4010, 4011, 4012, 4013, 4014]);

interface Payload {
  op: number;
  s?: number | null;
  t?: string | null;
  d?: unknown;
}

interface DiscordMessage {
  id: string;
  channel_id: string;
  guild_id?: string;
  content: string;
  author: { id: string; bot?: boolean };
  mentions?: { id: string }[];
}

interface Resumable {
  sessionId: string;
  url: string;
  self: string;
}

export function createDiscord(deps: ChannelDeps): Channel {
  const { token, outbound, agent, baseUrl = 'https://discord.com/api/v10' } = deps;
  let inbox: Inbox | undefined;
  let listening: Listening | undefined;
  let resumable: Resumable | undefined;
  let sequence: number | null = null;

  async function rest(method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> {
    const response = await outbound.fetch(baseUrl + path, {
      method,
      headers: { authorization: `Bot ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    if (response.status === 401) throw new TokenRefused('Discord refused the token');
    if (response.status >= 400) throw new Error(`Discord answered ${response.status}`);
    return answer;
  }

  async function listen(box: Inbox, signal: AbortSignal): Promise<void> {
    const url = resumable?.url ?? ((await rest('GET', '/gateway/bot')) as { url: string }).url;
    const socket = new WebSocket(`${url}/?v=10&encoding=json`);
    const send = (op: number, d: unknown): void => socket.send(JSON.stringify({ op, d }));
    let beat: NodeJS.Timeout | undefined;
    let acknowledged = true;
    const onAbort = (): void => socket.close(1000);
    signal.addEventListener('abort', onAbort);

    function onHello(everyMs: number): void {
      beat = setInterval(() => {
        // No answer to the last one: the connection is dead without having said so.
        if (!acknowledged) return socket.terminate();
        acknowledged = false;
        send(OP.heartbeat, sequence);
      }, everyMs);
      if (resumable) send(OP.resume, { token, session_id: resumable.sessionId, seq: sequence });
      else
        send(OP.identify, {
          token,
          intents: INTENTS,
          properties: { os: 'linux', browser: 'troupe', device: 'troupe' },
        });
    }

    async function onPayload({ op, s, t, d }: Payload): Promise<void> {
      if (op === OP.hello) onHello((d as { heartbeat_interval: number }).heartbeat_interval);
      else if (op === OP.ack) acknowledged = true;
      else if (op === OP.heartbeat) send(OP.heartbeat, sequence);
      else if (op === OP.reconnect) socket.close(4000);
      else if (op === OP.invalid) {
        if (d !== true) resumable = undefined;
        socket.close(4000);
      } else if (op === OP.dispatch) {
        if (t === 'READY') {
          const ready = d as { session_id: string; resume_gateway_url: string; user: { id: string } };
          resumable = { sessionId: ready.session_id, url: ready.resume_gateway_url, self: ready.user.id };
        }
        if (t === 'MESSAGE_CREATE') await onMessage(box, d as DiscordMessage);
        // Only now: a resumed connection starts after the last one that was really taken.
        sequence = s ?? sequence;
      }
    }

    let order = Promise.resolve();
    socket.on('message', (data: Buffer) => {
      order = order.then(() => onPayload(JSON.parse(data.toString()) as Payload)).catch(() => socket.terminate());
    });
    try {
      const [code] = (await once(socket, 'close')) as [number];
      if (REFUSED_CLOSE_CODES.has(code)) throw new TokenRefused(`Discord closed the connection (${code})`);
    } finally {
      clearInterval(beat);
      signal.removeEventListener('abort', onAbort);
      await order;
    }
  }

  async function onMessage(box: Inbox, message: DiscordMessage): Promise<void> {
    const self = resumable?.self ?? '';
    const mentioned = message.mentions?.some(({ id }) => id === self) ?? false;
    if (message.author.bot || (message.guild_id !== undefined && !mentioned)) return;
    const text = message.content.replaceAll(new RegExp(`<@!?${self}>`, 'g'), '').trim();
    await box.take({ id: message.id, chat: message.channel_id, sender: message.author.id, text });
  }

  return {
    kind: 'discord',
    async start() {
      const box = openInbox('discord', deps, async ({ chat, id }, text) => {
        for (const [index, piece] of pieces(text, MAX_TEXT).entries()) {
          const reference = index === 0 ? { message_reference: { message_id: id, fail_if_not_exists: false } } : {};
          await rest('POST', `/channels/${chat}/messages`, {
            content: piece,
            allowed_mentions: { parse: [] },
            ...reference,
          });
        }
      });
      inbox = box;
      await box.recover();
      listening = keepListening('discord', deps, (signal) => listen(box, signal));
      await agent.store.log({ level: 'info', message: 'Channel started.', source: 'discord' });
    },
    async stop() {
      await listening?.stop();
      await inbox?.settle();
    },
  };
}
