import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

/** An authenticator in software: makes passkeys and signs with them, as honestly as a test wants. */

const sha256 = (data: Uint8Array | string): Buffer => createHash('sha256').update(data).digest();

export interface SoftPasskey {
  id: string;
  rpId: string;
  userHandle: string;
  privateKey: KeyObject;
  count: number;
}

interface Lies {
  origin?: string;
  challenge?: string;
  /** Present and verified unless said. */
  flags?: number;
  count?: number;
  type?: string;
  crossOrigin?: boolean;
  rpId?: string;
  userHandle?: string;
}

export const ORIGIN = 'http://localhost:3000';

const clientData = (type: string, challenge: string, lies: Lies): Buffer =>
  Buffer.from(
    JSON.stringify({
      type: lies.type ?? type,
      challenge: lies.challenge ?? challenge,
      origin: lies.origin ?? ORIGIN,
      crossOrigin: lies.crossOrigin ?? false,
    }),
  );

function authData(rpId: string, flags: number, count: number): Buffer {
  const rest = Buffer.alloc(5);
  rest[0] = flags;
  rest.writeUInt32BE(count, 1);
  return Buffer.concat([sha256(rpId), rest]);
}

const text = (bytes: Buffer): string => bytes.toString('base64url');

export function makePasskey(options: { challenge: string; rp: { id: string }; user: { id: string } }, lies: Lies = {}) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(32);
  const rpId = lies.rpId ?? options.rp.id;
  const length = Buffer.alloc(2);
  length.writeUInt16BE(id.length);
  const data = Buffer.concat([authData(rpId, lies.flags ?? 0x45, lies.count ?? 0), randomBytes(16), length, id]);
  const passkey: SoftPasskey = { id: text(id), rpId, userHandle: options.user.id, privateKey, count: 0 };
  const answer = {
    id: passkey.id,
    type: 'public-key',
    response: {
      clientDataJSON: text(clientData('webauthn.create', options.challenge, lies)),
      authenticatorData: text(data),
      publicKey: text(publicKey.export({ type: 'spki', format: 'der' })),
      publicKeyAlgorithm: -7,
      transports: ['internal'],
    },
  };
  return { passkey, answer };
}

export function usePasskey(passkey: SoftPasskey, options: { challenge: string }, lies: Lies = {}) {
  passkey.count += 1;
  const data = authData(lies.rpId ?? passkey.rpId, lies.flags ?? 5, lies.count ?? passkey.count);
  const client = clientData('webauthn.get', options.challenge, lies);
  return {
    id: passkey.id,
    type: 'public-key',
    response: {
      clientDataJSON: text(client),
      authenticatorData: text(data),
      signature: text(sign('sha256', Buffer.concat([data, sha256(client)]), passkey.privateKey)),
      userHandle: lies.userHandle ?? passkey.userHandle,
    },
  };
}
