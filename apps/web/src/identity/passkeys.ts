import { createHash, createPublicKey, randomBytes, verify, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import type { PasskeyAssertion, PasskeyAttestation } from '@troupe/contract';
import { sameSecret } from '@troupe/kernel';

/**
 * What a browser answers for a passkey (WebAuthn), checked. No authenticator is asked which make it is, so that nothing
 * has to be read but fixed places: the public key comes as DER beside its form in CBOR, and vouches for nobody either way.
 */

/** Whose passkeys these are: the host that browsers keep them for, and the pages that may ask for them. */
export interface Party {
  id: string;
  origins: string[];
}

/** Undefined: browsers keep passkeys for host names only, never for bare addresses. */
export function partyOf(baseUrl: string, loopback: boolean): Party | undefined {
  const { hostname, origin, protocol, port } = new URL(baseUrl);
  if (isIP(hostname.replace(/^\[|\]$/g, '')) === 0) return { id: hostname, origins: [origin] };
  if (!loopback) return undefined;
  return { id: 'localhost', origins: [`${protocol}//localhost${port === '' ? '' : `:${port}`}`] };
}

/** What a browser was asked for; `known` answers whether we asked it. */
export interface Asked {
  party: Party;
  known: (challenge: string) => Promise<boolean>;
}

export interface NewPasskey {
  credentialId: string;
  publicKey: Buffer;
  signCount: number;
  transports: string[];
}

export const newChallenge = (): string => randomBytes(32).toString('base64url');

/** ES256, EdDSA, RS256: what every authenticator has one of. */
export const ALGORITHMS = [-7, -8, -257];

const PRESENT = 1;
const VERIFIED = 4;
const HAS_KEY = 64;

const bytesOf = (text: string): Buffer => Buffer.from(text, 'base64url');
const sha256 = (data: Uint8Array | string): Buffer => createHash('sha256').update(data).digest();

async function isOurs(text: string, type: string, { party, known }: Asked): Promise<boolean> {
  let data: Record<string, unknown>;
  try {
    data = JSON.parse(bytesOf(text).toString('utf8')) as typeof data;
  } catch {
    return false;
  }
  if (typeof data !== 'object' || data === null) return false;
  const { challenge, origin, crossOrigin } = data;
  if (data['type'] !== type || crossOrigin === true) return false;
  if (typeof origin !== 'string' || !party.origins.includes(origin)) return false;
  return typeof challenge === 'string' && (await known(challenge));
}

/** Null: not for us, or nobody was there, or the authenticator did not ask who. */
function readData(data: Buffer, party: Party): { flags: number; signCount: number } | null {
  if (data.length < 37 || !data.subarray(0, 32).equals(sha256(party.id))) return null;
  const flags = data[32]!;
  return (flags & PRESENT) !== 0 && (flags & VERIFIED) !== 0 ? { flags, signCount: data.readUInt32BE(33) } : null;
}

function readKey(der: Buffer): KeyObject | null {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch {
    return null;
  }
}

/** Which of the algorithms a key is for; null: none of them. */
function algorithmOf({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject): number | null {
  if (type === 'ec') return details.namedCurve === 'prime256v1' ? -7 : null;
  if (type === 'ed25519') return -8;
  const bits = details.modulusLength ?? 0;
  return type === 'rsa' && bits >= 2048 && bits <= 4096 ? -257 : null;
}

/** A passkey that was just made; null: it is not what we asked for. */
export async function readNewPasskey(given: PasskeyAttestation, asked: Asked): Promise<NewPasskey | null> {
  const { clientDataJSON, authenticatorData, publicKey, publicKeyAlgorithm, transports } = given.response;
  const data = bytesOf(authenticatorData);
  const read = readData(data, asked.party);
  if (!read || (read.flags & HAS_KEY) === 0 || data.length < 55) return null;
  const length = data.readUInt16BE(53);
  const credential = data.subarray(55, 55 + length);
  if (length === 0 || credential.length !== length || !credential.equals(bytesOf(given.id))) return null;
  const der = bytesOf(publicKey);
  const key = readKey(der);
  const algorithm = key && algorithmOf(key);
  if (algorithm === null || algorithm !== publicKeyAlgorithm) return null;
  if (!(await isOurs(clientDataJSON, 'webauthn.create', asked))) return null;
  return { credentialId: credential.toString('base64url'), publicKey: der, signCount: read.signCount, transports };
}

export interface KnownPasskey {
  userId: string;
  publicKey: Buffer;
  signCount: number;
}

/** The new count of signatures; null: it is not this passkey's, or a copy of it was used. */
export async function readAssertion(
  given: PasskeyAssertion,
  passkey: KnownPasskey,
  asked: Asked,
): Promise<number | null> {
  const { clientDataJSON, authenticatorData, signature, userHandle } = given.response;
  if (userHandle && !sameSecret(bytesOf(userHandle).toString('utf8'), passkey.userId)) return null;
  const data = bytesOf(authenticatorData);
  const read = readData(data, asked.party);
  const key = readKey(passkey.publicKey);
  if (!read || !key) return null;
  const signed = Buffer.concat([data, sha256(bytesOf(clientDataJSON))]);
  const algorithm = algorithmOf(key) === -8 ? null : 'sha256';
  if (!verify(algorithm, signed, key, bytesOf(signature))) return null;
  // Taken only by whoever can sign: a challenge counts once.
  if (!(await isOurs(clientDataJSON, 'webauthn.get', asked))) return null;
  // Many authenticators do not count, and say so by zeros.
  const counts = read.signCount > 0 || passkey.signCount > 0;
  return counts && read.signCount <= passkey.signCount ? null : read.signCount;
}
