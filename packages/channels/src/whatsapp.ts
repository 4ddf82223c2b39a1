import { createHmac } from 'node:crypto';
import { readBody, type ChannelFile } from '@troupe/agent';
import { AppError, parseJson, sameSecret, sha256Hex } from '@troupe/kernel';
import { z } from 'zod';
import { download, formWith, jsonOf, tryLater } from './http.ts';
import type { ChannelDeps, OutgoingFile, Post, Service } from './channel.ts';
import { TokenRefused, Trouble, Undeliverable } from './errors.ts';

/**
 * WhatsApp's Cloud API. Meta calls our webhook; its address holds a secret made from the token, which is the verify
 * token too, and Meta signs what it sends with the app's secret. Answers go out from the number that the message came in at.
 */

const MAX_TEXT = 4096;
const MOST_BODY = 3 * 1024 * 1024;
const DAY_MS = 86_400_000;
/** Meta tries for seven days; what is older was not sent by it. */
const OLDEST_MS = 8 * DAY_MS;
/** Codes of Meta that no other try helps: the window of 24 hours is over, the number is none, or not on WhatsApp. */
const NEVER = new Set([131_026, 131_047, 131_030, 100]);

const media = z.looseObject({
  id: z.string(),
  caption: z.string().optional(),
  filename: z.string().optional(),
  mime_type: z.string().optional(),
});
const MEDIA = ['image', 'audio', 'video', 'document', 'sticker'] as const;
const ENDINGS = { image: 'jpg', audio: 'ogg', video: 'mp4', document: 'bin', sticker: 'webp' };

const incoming = z.looseObject({
  id: z.string(),
  from: z.string(),
  type: z.string(),
  timestamp: z.string().optional(),
  text: z.object({ body: z.string() }).optional(),
  ...Object.fromEntries(MEDIA.map((kind) => [kind, media.optional()])),
});
type Incoming = z.output<typeof incoming> & Partial<Record<(typeof MEDIA)[number], z.output<typeof media>>>;

/** Looked at one by one: what is of another shape costs nothing but itself. */
const payload = z.object({ entry: z.array(z.unknown()) });
const entry = z.object({ changes: z.array(z.unknown()) });
const change = z.object({
  value: z.looseObject({
    metadata: z.looseObject({ phone_number_id: z.string().regex(/^\d+$/) }).optional(),
    messages: z.array(z.unknown()).optional(),
  }),
});
/** Who wrote something of a shape that is not known. */
const author = z.looseObject({ id: z.string().min(1), from: z.string().min(1) });
const UNKNOWN = 'WhatsApp handed it over in a shape that is not known';

export const whatsAppSecret = (token: string): string => sha256Hex(`whatsapp webhook ${token}`).slice(0, 32);

function filesOf(message: Incoming): { files: ChannelFile[]; caption: string } {
  const found = MEDIA.flatMap((kind) => (message[kind] ? [{ kind, ...message[kind] }] : []));
  const files = found.map(({ kind, id, filename }) => ({
    ref: id,
    name: filename ?? `${kind}-${id}.${ENDINGS[kind]}`,
  }));
  return { files, caption: found.map(({ caption = '' }) => caption).join('') };
}

/** Meta signs the bytes as it sends them. */
function checkSignature(body: Buffer, given: string | undefined, appSecret: string): void {
  const right = `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`;
  if (!sameSecret(given ?? '', right)) throw new AppError(401, 'Invalid signature');
}

async function take(post: Post, body: Buffer, now: number): Promise<void> {
  let parsed: z.output<typeof payload>;
  try {
    parsed = payload.parse(parseJson(body.toString('utf8')));
  } catch {
    throw new AppError(400, 'Invalid request body');
  }
  let nameless = false;
  const changes = parsed.entry.flatMap((one) => entry.safeParse(one).data?.changes ?? []);
  for (const one of changes) {
    const { metadata, messages = [] } = change.safeParse(one).data?.value ?? {};
    for (const given of messages) {
      const message = incoming.safeParse(given).data as Incoming | undefined;
      if (message) await takeOne(post, message, metadata?.phone_number_id, now);
      else nameless = !(await ignoreUnknown(post, given)) || nameless;
    }
  }
  // However many there are: nobody can tell one from the other.
  if (nameless) await post.ignore({ id: `unknown:${sha256Hex(body.toString('utf8'))}`, ...NOBODY }, UNKNOWN);
}

const NOBODY = { chat: 'whatsapp', sender: 'unknown', text: '' };

async function takeOne(post: Post, message: Incoming, number: string | undefined, now: number): Promise<void> {
  const { id, from, text, timestamp } = message;
  const { files, caption } = filesOf(message);
  const isOld = timestamp !== undefined && Number(timestamp) * 1000 < now - OLDEST_MS;
  if (!number || isOld) return;
  await post.take({ id, chat: from, sender: from, text: text?.body ?? caption, files, extra: { number } });
}

/** False: it does not even say whose it is. */
async function ignoreUnknown(post: Post, given: unknown): Promise<boolean> {
  const known = author.safeParse(given).data;
  if (known) await post.ignore({ id: known.id, chat: known.from, sender: known.from, text: '' }, UNKNOWN);
  return known !== undefined;
}

function refused(status: number, error: { code?: number; message?: string }): Error {
  if (status === 401 || error.code === 190) return new TokenRefused('WhatsApp refused the token');
  if (status === 429 || error.code === 130_429) return tryLater('WhatsApp', 60);
  if (NEVER.has(error.code ?? 0)) return new Undeliverable(`WhatsApp: ${error.message ?? error.code}`);
  return new Trouble(`WhatsApp answered ${status}${error.message ? `: ${error.message}` : ''}`);
}

function webhookOf(secret: string, appSecret: string | undefined, now: () => Date): NonNullable<Service['webhook']> {
  return {
    path: `/channels/whatsapp/${secret}`,
    async answer(inbox, request, response, query) {
      if (request.method === 'GET') {
        const isRight =
          query.get('hub.mode') === 'subscribe' && sameSecret(query.get('hub.verify_token') ?? '', secret);
        if (!isRight) throw new AppError(403, 'Invalid verify token');
        response.writeHead(200, { 'content-type': 'text/plain' }).end(query.get('hub.challenge') ?? '');
        return;
      }
      if (request.method !== 'POST') throw new AppError(405, 'Method not allowed');
      const body = await readBody(request, MOST_BODY);
      if (appSecret !== undefined) checkSignature(body, request.headers['x-hub-signature-256']?.toString(), appSecret);
      await take(inbox, body, now().getTime());
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"success":true}');
    },
  };
}

export function createWhatsApp(deps: ChannelDeps): Service {
  const { settings, outbound, baseUrl = 'https://graph.facebook.com/v22.0', now = () => new Date() } = deps;
  const { token = '', appSecret, phoneNumberId = '' } = settings;
  const secret = whatsAppSecret(token);
  const authorization = `Bearer ${token}`;

  async function graph(path: string, request: Parameters<typeof outbound.fetch>[1] = {}) {
    const response = await outbound.fetch(`${baseUrl}/${path}`, {
      ...request,
      headers: { ...request.headers, authorization },
    });
    const answer = await jsonOf(response);
    if (response.status < 400) return answer;
    throw refused(response.status, (answer['error'] ?? {}) as { code?: number });
  }
  const post = (number: string, body: object) =>
    graph(`${number}/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messaging_product: 'whatsapp', ...body }),
    });

  async function sendFile(number: string, to: string, file: OutgoingFile): Promise<void> {
    const fields = { messaging_product: 'whatsapp', type: 'application/octet-stream' };
    const { headers, body } = formWith(fields, { name: file.name, field: 'file' }, file);
    const { id } = await graph(`${number}/media`, { method: 'POST', headers, ...(body && { body }), timeout: 120_000 });
    await post(number, { to, type: 'document', document: { id, filename: file.name } });
  }

  return {
    kind: 'whatsapp',
    maxText: MAX_TEXT,
    async test() {
      if (phoneNumberId === '') {
        await graph('me');
        return 'WhatsApp';
      }
      const { display_phone_number: number } = await graph(`${phoneNumberId}?fields=display_phone_number`);
      return typeof number === 'string' ? number : phoneNumberId;
    },
    async tell(to, text) {
      if (phoneNumberId === '') throw new Trouble('A test message needs the phone number ID');
      await post(phoneNumberId, { to, type: 'text', text: { body: text } });
    },
    async send({ chat, extra = {} }, { text, files }) {
      const number = extra['number'] ?? phoneNumberId;
      if (text !== '') await post(number, { to: chat, type: 'text', text: { body: text } });
      for (const file of files) await sendFile(number, chat, file);
    },
    async fetchFile({ ref }) {
      const { url } = await graph(encodeURIComponent(ref));
      if (typeof url !== 'string') throw new Undeliverable('WhatsApp does not give it');
      return download(outbound, url, { authorization });
    },
    webhook: webhookOf(secret, appSecret, now),
  };
}
