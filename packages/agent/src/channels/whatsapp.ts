import { AppError, parseJson, sameSecret, sha256Hex } from '@troupe/kernel';
import { z } from 'zod';
import { readBody } from '../gateway/exchange.ts';
import { pieces, TokenRefused, type Channel, type ChannelDeps } from './channel.ts';
import { openInbox, type Inbox } from './inbox.ts';

/**
 * WhatsApp's Cloud API. Meta calls our webhook; its address holds a secret made from the token, which is the verify
 * token too. Answers go out from the number that the message came in at.
 */

const MAX_TEXT = 4096;

const payload = z.object({
  entry: z.array(
    z.object({
      changes: z.array(
        z.object({
          value: z.looseObject({
            metadata: z.looseObject({ phone_number_id: z.string().regex(/^\d+$/) }).optional(),
            messages: z
              .array(
                z.looseObject({
                  id: z.string(),
                  from: z.string(),
                  type: z.string(),
                  text: z.object({ body: z.string() }).optional(),
                }),
              )
              .optional(),
          }),
        }),
      ),
    }),
  ),
});

export const whatsAppSecret = (token: string): string => sha256Hex(`whatsapp webhook ${token}`).slice(0, 32);

export function createWhatsApp(deps: ChannelDeps): Channel {
  const { token, outbound, agent, baseUrl = 'https://graph.facebook.com/v22.0' } = deps;
  const secret = whatsAppSecret(token);
  let inbox: Inbox | undefined;

  async function send(number: string, to: string, text: string): Promise<void> {
    const response = await outbound.fetch(`${baseUrl}/${number}/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messaging_product: 'whatsapp', to, type: 'text', text: { body: text } }),
    });
    response.cancel();
    if (response.status === 401) throw new TokenRefused('WhatsApp refused the token');
    if (response.status >= 400) throw new Error(`WhatsApp answered ${response.status}`);
  }

  async function take(box: Inbox, body: string): Promise<void> {
    let parsed: z.output<typeof payload>;
    try {
      parsed = payload.parse(parseJson(body));
    } catch {
      throw new AppError(400, 'Invalid request body');
    }
    for (const { value } of parsed.entry.flatMap(({ changes }) => changes)) {
      for (const { id, from, text } of value.messages ?? []) {
        const number = value.metadata?.phone_number_id;
        if (number && text) await box.take({ id, chat: from, sender: from, text: text.body, extra: { number } });
      }
    }
  }

  return {
    kind: 'whatsapp',
    webhookPath: `/channels/whatsapp/${secret}`,
    async webhook(request, response, query) {
      if (request.method === 'GET') {
        const right = query.get('hub.mode') === 'subscribe' && sameSecret(query.get('hub.verify_token') ?? '', secret);
        if (!right) throw new AppError(403, 'Invalid verify token');
        response.writeHead(200, { 'content-type': 'text/plain' }).end(query.get('hub.challenge') ?? '');
        return;
      }
      if (request.method !== 'POST') throw new AppError(405, 'Method not allowed');
      if (!inbox) throw new AppError(503, 'The channel is not started');
      await take(inbox, (await readBody(request)).toString('utf8'));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"success":true}');
    },
    async start() {
      inbox = openInbox('whatsapp', deps, async ({ chat, extra }, text) => {
        for (const piece of pieces(text, MAX_TEXT)) await send(extra?.['number'] ?? '', chat, piece);
      });
      await inbox.recover();
      await agent.store.log({ level: 'info', message: 'Channel started.', source: 'whatsapp' });
    },
    stop: async () => inbox?.settle(),
  };
}
