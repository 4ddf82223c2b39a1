import { once } from 'node:events';
import { sha256Hex, VERSION } from '@troupe/kernel';
import { WebSocket } from 'ws';
import type { ChannelDeps, Part, Post, Service } from './channel.ts';
import { TokenRefused, Trouble, Undeliverable } from './errors.ts';
import { download, formWith, jsonOf, tryLater } from './http.ts';
import { openSocket } from './socket.ts';

/** Discord: events over its gateway's WebSocket, answers over its REST API. In servers it speaks when it is mentioned. */

const MAX_TEXT = 2000;
/** Guild messages, direct messages, and what they say. */
const INTENTS = (1 << 9) | (1 << 12) | (1 << 15);
const OP = { dispatch: 0, heartbeat: 1, identify: 2, resume: 6, reconnect: 7, invalid: 9, hello: 10, ack: 11 };
/** Of the form that Discord asks for; others may be refused. */
const userAgent = (url: string): string => `DiscordBot (${url}, ${VERSION})`;
const OWNERS_TURN_MS = 300_000;

const noIntent = (): Trouble =>
  new Trouble(
    'Discord does not let the bot read messages: switch on “Message Content Intent” on its page Bot in Discord’s developer portal',
    OWNERS_TURN_MS,
  );

/** What an application may, as Discord tells it: to read messages, for good or while it is small. */
const READS_MESSAGES = (1 << 18) | (1 << 19);

/** Why Discord closed a connection for good; undefined: it may be opened again. */
function whyClosed(code: number): Error | undefined {
  if (code === 4004) return new TokenRefused('Discord refused the token');
  if (code === 4014) return noIntent();
  if (code >= 4010 && code <= 4013) return new Trouble(`Discord closed the connection (${code})`, OWNERS_TURN_MS);
  return undefined;
}

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
  attachments?: { filename: string; url: string; size: number }[];
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
  readonly take: (message: DiscordMessage) => Promise<void>;
  #beat: NodeJS.Timeout | undefined;
  #acknowledged = true;
  #order = Promise.resolve();

  readonly #up: () => void;

  constructor(socket: WebSocket, token: string, place: Place, on: { message: Connection['take']; up: () => void }) {
    this.#socket = socket;
    this.#token = token;
    this.#place = place;
    this.take = on.message;
    this.#up = on.up;
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
      const why = whyClosed(code);
      if (why) throw why;
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
      if (t === 'READY' || t === 'RESUMED') this.#up();
      if (t === 'MESSAGE_CREATE') await this.take(d as DiscordMessage);
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

async function hear(post: Post, message: DiscordMessage, self: string): Promise<void> {
  const isMentioned = message.mentions?.some(({ id }) => id === self) ?? false;
  if (message.author.bot || (message.guild_id !== undefined && !isMentioned)) return;
  const text = message.content.replaceAll(new RegExp(`<@!?${self}>`, 'g'), '').trim();
  const files = (message.attachments ?? []).map(({ filename, url, size }) => ({
    ref: url,
    name: filename,
    bytes: size,
  }));
  await post.take({ id: message.id, chat: message.channel_id, sender: message.author.id, text, files });
}

function refused(status: number, { message, retry_after: after }: { message?: string; retry_after?: number }): Error {
  if (status === 401) return new TokenRefused('Discord refused the token');
  if (status === 429) return tryLater('Discord', after);
  if (status === 403 || status === 404) return new Undeliverable(`Discord: ${message ?? status}`);
  return new Trouble(`Discord answered ${status}`);
}

/** The same for each try: Discord takes a message with it once. */
const nonce = (id: string, index: number): string => sha256Hex(`${id} ${index}`).slice(0, 25);

export function createDiscord(deps: ChannelDeps): Service {
  const { settings, outbound, baseUrl = 'https://discord.com/api/v10', publicUrl = 'http://localhost' } = deps;
  const { token = '' } = settings;
  const place: Place = { resumable: undefined, sequence: null };

  async function rest(
    path: string,
    request: Parameters<typeof outbound.fetch>[1] = {},
  ): Promise<Record<string, unknown>> {
    const headers = { ...request.headers, authorization: `Bot ${token}`, 'user-agent': userAgent(publicUrl) };
    const response = await outbound.fetch(baseUrl + path, { ...request, headers });
    const answer = await jsonOf(response);
    if (response.status < 400) return answer;
    throw refused(response.status, answer);
  }

  async function put(chat: string, body: object, part: Pick<Part, 'files'>): Promise<void> {
    const path = `/channels/${encodeURIComponent(chat)}/messages`;
    const content = { allowed_mentions: { parse: [] }, ...body };
    const [file] = part.files;
    if (!file) {
      const headers = { 'content-type': 'application/json' };
      await rest(path, { method: 'POST', headers, body: JSON.stringify(content) });
      return;
    }
    const form = formWith({ payload_json: JSON.stringify(content) }, { name: file.name, field: 'files[0]' }, file);
    await rest(path, { method: 'POST', ...form, timeout: 120_000 });
  }

  async function listen(post: Post, signal: AbortSignal, up: () => void): Promise<void> {
    const url = place.resumable?.url ?? String((await rest('/gateway/bot'))['url']);
    const socket = await openSocket(outbound, `${url}/?v=10&encoding=json`);
    const message = (said: DiscordMessage): Promise<void> => hear(post, said, place.resumable?.self ?? '');
    await new Connection(socket, token, place, { message, up }).run(signal);
  }

  return {
    kind: 'discord',
    maxText: MAX_TEXT,
    async test() {
      const { username } = await rest('/users/@me');
      const { flags } = await rest('/applications/@me');
      // Without it the token is right, and the gateway is closed all the same.
      if (typeof flags === 'number' && (flags & READS_MESSAGES) === 0) throw noIntent();
      return String(username);
    },
    tell: (to, text) => put(to, { content: text }, { files: [] }),
    async send({ chat, id }, { index, text, files }) {
      const reference = index === 0 ? { message_reference: { message_id: id, fail_if_not_exists: false } } : {};
      const once = { nonce: nonce(id, index), enforce_nonce: true };
      await put(chat, { ...(text !== '' && { content: text }), ...once, ...reference }, { files });
    },
    fetchFile: ({ ref }) => download(outbound, ref),
    listen,
  };
}
