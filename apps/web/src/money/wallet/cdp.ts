import { createHash, createPrivateKey, type KeyObject } from 'node:crypto';
import { isHexAddress } from '@troupe/chain';
import { createOutbound, loadNow, onUse, randomHex, sha256Hex, type Clock, type Settings } from '@troupe/kernel';

const jose = onUse(() => loadNow(import.meta.resolve('jose')) as typeof import('jose'));

/** CDP's REST API, as far as it is needed: one account for each user, found again by its name. */

const ACCOUNTS = '/platform/v2/evm/accounts';
const LIFE_SECONDS = 120;

interface Deps {
  settings: Settings;
  clock: Clock;
  timeoutMs?: number;
}

type Call = { method: 'GET' | 'POST'; path: string; body?: Record<string, unknown> };

export async function createCdpAccount(
  deps: Deps,
  userId: string,
): Promise<{ address: `0x${string}`; walletId: string }> {
  // Their names have at most 36 characters.
  const name = `troupe-${sha256Hex(userId).slice(0, 28)}`;
  const created = await ask(deps, { method: 'POST', path: ACCOUNTS, body: { name } });
  const { status, body } =
    created.status === 409 ? await ask(deps, { method: 'GET', path: `${ACCOUNTS}/by-name/${name}` }) : created;
  if (status >= 300) throw new Error(`CDP answered ${status}${body.errorType ? ` ${String(body.errorType)}` : ''}`);
  if (!isHexAddress(body.address)) throw new Error('CDP answered without an address');
  return { address: body.address, walletId: name };
}

async function ask(
  { settings, clock, timeoutMs = 10_000 }: Deps,
  { method, path, body }: Call,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const base = new URL(settings.CDP_API_BASE);
  const fullPath = `${base.pathname.replace(/\/$/, '')}${path}`;
  const uri = `${method} ${base.host}${fullPath}`;
  // Where it is, is the operator's choice, private addresses included.
  const outbound = createOutbound({ allowLoopback: true, allowPrivate: true });
  try {
    const answer = await outbound.fetch(new URL(fullPath, base), {
      method,
      redirects: 0,
      timeout: timeoutMs,
      headers: {
        authorization: `Bearer ${await apiToken(settings, uri, clock)}`,
        ...(body
          ? { 'content-type': 'application/json', 'x-wallet-auth': await walletToken(settings, uri, body, clock) }
          : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const parsed = await answer.json().catch(() => ({}));
    return { status: answer.status, body: typeof parsed === 'object' && parsed !== null ? { ...parsed } : {} };
  } finally {
    await outbound.close();
  }
}

function apiToken({ CDP_API_KEY_ID: id = '', CDP_API_KEY_SECRET: secret = '' }: Settings, uri: string, clock: Clock) {
  const { key, alg } = apiKey(secret);
  const now = seconds(clock);
  return new (jose().SignJWT)({ uris: [uri] })
    .setProtectedHeader({ alg, kid: id, typ: 'JWT', nonce: randomHex(16) } as never)
    .setSubject(id)
    .setIssuer('cdp')
    .setAudience(['cdp_service'])
    .setIssuedAt(now)
    .setNotBefore(now)
    .setExpirationTime(now + LIFE_SECONDS)
    .sign(key);
}

/** Proves that who holds the wallet secret wants this very body. */
function walletToken({ CDP_WALLET_SECRET: secret = '' }: Settings, uri: string, body: object, clock: Clock) {
  const key = createPrivateKey({ key: Buffer.from(secret, 'base64'), format: 'der', type: 'pkcs8' });
  const now = seconds(clock);
  const reqHash = createHash('sha256').update(JSON.stringify(body)).digest('hex');
  return new (jose().SignJWT)({ uris: [uri], reqHash })
    .setProtectedHeader({ alg: 'ES256', typ: 'JWT' })
    .setIssuedAt(now)
    .setNotBefore(now)
    .setJti(randomHex(16))
    .sign(key);
}

/** Their keys come as a PEM (ES256), or as base64 of seed and public key (Ed25519). */
function apiKey(secret: string): { key: KeyObject; alg: string } {
  if (secret.includes('BEGIN')) return { key: createPrivateKey(secret.replaceAll('\\n', '\n')), alg: 'ES256' };
  const bytes = Buffer.from(secret, 'base64');
  if (bytes.length !== 64) throw new Error('CDP_API_KEY_SECRET is neither a PEM nor an Ed25519 key');
  const d = bytes.subarray(0, 32).toString('base64url');
  const x = bytes.subarray(32).toString('base64url');
  return { key: createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' }), alg: 'EdDSA' };
}

const seconds = (clock: Clock): number => Math.floor(clock().getTime() / 1000);
