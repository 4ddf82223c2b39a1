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

/** Where a new connection goes on. */
interface Place {
  resumable: Resumable | undefined;
  sequence: number | null;
}

class Connection {
  readonly #socket: WebSocket;
  readonly #token: string;
  readonly #place: Place;
  readonly #onMessage: (message: DiscordMessage) => Promise<void>;
  #beat: NodeJS.Timeout | undefined;
  #acknowledged = true;
  #order = Promise.resolve();

  constructor(url: string, token: string, place: Place, onMessage: (message: DiscordMessage) => Promise<void>) {
    this.#socket = new WebSocket(`${url}/?v=10&encoding=json`);
    this.#token = token;
    this.#place = place;
    this.#onMessage = onMessage;
  }

  /** Until it closes. */
  async run(signal: AbortSignal): Promise<void> {
    const socket = this.#socket;
    const onAbort = (): void => socket.close(1000);
    signal.addEventListener('abort', onAbort);
    socket.on('message', (data: Buffer) => {
      this.#order = this.#order
        .then(() => this.#onPayload(JSON.parse(data.toString()) as Payload))
        .catch(() => socket.terminate());
    });
    try {
      const [code] = (await once(socket, 'close')) as [number];
      if (REFUSED_CLOSE_CODES.has(code)) throw new TokenRefused(`Discord closed the connection (${code})`);
    } finally {
      clearInterval(this.#beat);
      signal.removeEventListener('abort', onAbort);
      await this.#order;
    }
  }

  #send(op: number, d: unknown): void {
    this.#socket.send(JSON.stringify({ op, d }));
  }

  async #onPayload({ op, s, t, d }: Payload): Promise<void> {
    if (op === OP.hello) this.#onHello((d as { heartbeat_interval: number }).heartbeat_interval);
    else if (op === OP.ack) this.#acknowledged = true;
    else if (op === OP.heartbeat) this.#send(OP.heartbeat, this.#place.sequence);
    else if (op === OP.reconnect) this.#socket.close(4000);
    else if (op === OP.invalid) {
      if (d !== true) this.#place.resumable = undefined;
      this.#socket.close(4000);
    } else if (op === OP.dispatch) {
      if (t === 'READY') {
        const ready = d as { session_id: string; resume_gateway_url: string; user: { id: string } };
        this.#place.resumable = { sessionId: ready.session_id, url: ready.resume_gateway_url, self: ready.user.id };
      }
      if (t === 'MESSAGE_CREATE') await this.#onMessage(d as DiscordMessage);
      // Only now: a resumed connection starts after the last one that was really taken.
      this.#place.sequence = s ?? this.#place.sequence;
    }
  }

  #onHello(everyMs: number): void {
    const { resumable, sequence } = this.#place;
    const token = this.#token;
    this.#beat = setInterval(() => {
      // No answer to the last one: the connection is dead without having said so.
      if (!this.#acknowledged) return this.#socket.terminate();
      this.#acknowledged = false;
      this.#send(OP.heartbeat, this.#place.sequence);
    }, everyMs);
    if (resumable) this.#send(OP.resume, { token, session_id: resumable.sessionId, seq: sequence });
    else
      this.#send(OP.identify, {
        token,
        intents: INTENTS,
        properties: { os: 'linux', browser: 'troupe', device: 'troupe' },
      });
  }
}

async function hear(box: Inbox, message: DiscordMessage, self: string): Promise<void> {
  const mentioned = message.mentions?.some(({ id }) => id === self) ?? false;
  if (message.author.bot || (message.guild_id !== undefined && !mentioned)) return;
  const text = message.content.replaceAll(new RegExp(`<@!?${self}>`, 'g'), '').trim();
  await box.take({ id: message.id, chat: message.channel_id, sender: message.author.id, text });
}

export function createDiscord(deps: ChannelDeps): Channel {
  const { token, outbound, agent, baseUrl = 'https://discord.com/api/v10' } = deps;
  let inbox: Inbox | undefined;
  let listening: Listening | undefined;
  const place: Place = { resumable: undefined, sequence: null };

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
    const url = place.resumable?.url ?? ((await rest('GET', '/gateway/bot')) as { url: string }).url;
    await new Connection(url, token, place, (message) => hear(box, message, place.resumable?.self ?? '')).run(signal);
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
