import { createSign } from 'node:crypto';
import { createOutbound } from '@troupe/kernel';
import { z } from 'zod';
import { Unusable, type Wire } from '../provider.ts';
import type { Authorize } from '../upstream.ts';
import { openaiWire } from './openai.ts';

/** Google's Vertex AI by its OpenAI-compatible endpoint. The key is the JSON file of a service account. */

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const LIFETIME_S = 3600;
/** Before its end, so that none ends on its way. */
const EARLY_MS = 60_000;
const TIMEOUT_MS = 10_000;
const MAX_TOKEN_BYTES = 64 * 1024;

const account = z.object({
  project_id: z.string().min(1),
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  private_key_id: z.string().optional(),
  token_uri: z.url({ protocol: /^https?$/ }).default('https://oauth2.googleapis.com/token'),
});
type ServiceAccount = z.output<typeof account>;

const issued = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() });

/** Throws with what is wrong with the key, and nothing of it. */
function serviceAccountOf(apiKey: string): ServiceAccount {
  let json: unknown;
  try {
    json = JSON.parse(apiKey);
  } catch {
    throw new Unusable('the key must be the JSON file of a service account');
  }
  const parsed = account.safeParse(json);
  if (!parsed.success)
    throw new Unusable(`the key is no service account: ${parsed.error.issues[0]?.path.join('.')} is missing or wrong`);
  return parsed.data;
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** What a service account shows to be given a token. */
function assertionOf({ client_email: email, private_key: key, ...rest }: ServiceAccount, now: number): string {
  const at = Math.floor(now / 1000);
  const header = { alg: 'RS256', typ: 'JWT', ...(rest.private_key_id && { kid: rest.private_key_id }) };
  const claims = { iss: email, scope: SCOPE, aud: rest.token_uri, iat: at, exp: at + LIFETIME_S };
  const signed = `${encoded(header)}.${encoded(claims)}`;
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(key, 'base64url')}`;
}

async function fetchToken(from: ServiceAccount): Promise<{ token: string; until: number }> {
  const started = Date.now();
  // An administrator has named it: it may be anywhere.
  const outbound = createOutbound({ allowLoopback: true, allowPrivate: true });
  try {
    const answer = await outbound.fetch(new URL(from.token_uri), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ grant_type: GRANT, assertion: assertionOf(from, started) }).toString(),
      timeout: TIMEOUT_MS,
      maxBytes: MAX_TOKEN_BYTES,
      redirects: 0,
    });
    const text = Buffer.from(await answer.bytes()).toString('utf8');
    if (answer.status >= 300) throw new Unusable(`the service account was refused (${answer.status})`);
    return tokenOf(text, started);
  } finally {
    await outbound.close();
  }
}

function tokenOf(text: string, started: number): { token: string; until: number } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Unusable('the answer to the service account is no JSON');
  }
  const given = issued.safeParse(json);
  if (!given.success) throw new Unusable('the answer to the service account has no token');
  return { token: given.data.access_token, until: started + given.data.expires_in * 1000 - EARLY_MS };
}

/** One token for all requests, until shortly before its end. Who come while it is fetched wait for the same. */
function authorize(apiKey: string): Authorize {
  let token: Promise<{ token: string; until: number }> | undefined;
  let until = -Infinity;
  const renew = async () => {
    const found = await fetchToken(serviceAccountOf(apiKey));
    until = found.until;
    return found;
  };
  return async () => {
    if (!token || Date.now() >= until) {
      until = Infinity;
      token = renew().catch((error: unknown) => {
        token = undefined;
        throw error;
      });
    }
    return { authorization: `Bearer ${(await token).token}` };
  };
}

export const vertexWire: Wire = {
  ...openaiWire,
  modelsPath: undefined,
  headers: () => ({}),
  authorize,
  body: (_name, model, request, stream) => openaiWire.body('gemini', model, request, stream),
};

/** Of a region's server, the address of the account's project there. */
export function vertexAddress(given: string, apiKey: string): string {
  const url = new URL(given);
  if (url.pathname !== '/') return given;
  const place = /^([a-z0-9-]+)-aiplatform\./.exec(url.hostname)?.[1] ?? 'global';
  const { project_id: project } = serviceAccountOf(apiKey);
  return new URL(`/v1/projects/${encodeURIComponent(project)}/locations/${place}/endpoints/openapi`, url).href;
}
