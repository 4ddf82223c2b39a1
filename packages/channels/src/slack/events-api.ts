import { createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody } from '@troupe/agent';
import { AppError, parseJson, sameSecret } from '@troupe/kernel';
import { z } from 'zod';
import type { SlackEvent } from './event.ts';

/** Events as requests that Slack signs. One that is repeated finds its message known. */

const OLDEST_MS = 300_000;
const MOST_BODY = 1024 * 1024;

interface Deps {
  signingSecret: string;
  now: () => Date;
  hear: (event: SlackEvent) => Promise<void>;
}

const body = z.looseObject({
  type: z.string(),
  challenge: z.string().max(1000).optional(),
  event: z.looseObject({ type: z.string() }).optional(),
});

/** Signed by Slack, just now: an old request that somebody kept is refused. */
function checkSlackSignature(
  headers: IncomingMessage['headers'],
  raw: Buffer,
  { signingSecret, now }: Pick<Deps, 'signingSecret' | 'now'>,
): void {
  const at = String(headers['x-slack-request-timestamp'] ?? '');
  const isFresh = /^\d{1,12}$/.test(at) && Math.abs(now().getTime() - Number(at) * 1000) <= OLDEST_MS;
  const right = `v0=${createHmac('sha256', signingSecret).update(`v0:${at}:`).update(raw).digest('hex')}`;
  const isSigned = sameSecret(String(headers['x-slack-signature'] ?? ''), right);
  if (!isSigned || !isFresh) throw new AppError(401, 'Invalid signature');
}

export async function answerEvents(deps: Deps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') throw new AppError(405, 'Method not allowed');
  const raw = await readBody(request, MOST_BODY);
  checkSlackSignature(request.headers, raw, deps);
  const parsed = body.safeParse(parseJson(raw.toString('utf8')));
  if (!parsed.success) throw new AppError(400, 'Invalid request body');
  const { type, challenge = '', event } = parsed.data;
  if (type === 'url_verification') {
    response.writeHead(200, { 'content-type': 'text/plain' }).end(challenge);
    return;
  }
  if (type === 'event_callback' && event) await deps.hear(event as SlackEvent);
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
}
