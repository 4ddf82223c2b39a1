import {
  createCipheriv,
  createECDH,
  createPrivateKey,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
  sign,
  type KeyObject,
} from 'node:crypto';

/** Web Push without a library: what is sent can be read by one browser (RFC 8291), and says who sends it (RFC 8292). */

export interface PushKeys {
  /** A point of P-256, not compressed. */
  publicKey: Buffer;
  /** PKCS #8. */
  privateKey: Buffer;
}

export interface Browser {
  p256dh: Buffer;
  auth: Buffer;
}

const CURVE = 'prime256v1';
/** 0x04, x and y. */
const POINT_BYTES = 65;
const SALT_BYTES = 16;
const RECORD_BYTES = 4096;
const TOKEN_MS = 12 * 3_600_000;
/** After the last record comes this octet (RFC 8188). */
const LAST = Buffer.from([2]);
/** Every push service takes at least so many (RFC 8291): what is left of 4096 bytes. */
export const MOST_BYTES = 3993;

export function newPushKeys(): PushKeys {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: CURVE });
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return {
    publicKey: spki.subarray(spki.length - POINT_BYTES),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'der' }),
  };
}

const derive = (secret: Buffer, salt: Buffer, info: Buffer, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, bytes));

/** Throws when the browser's key is no point of the curve. */
export function sealFor({ p256dh, auth }: Browser, text: string): Buffer {
  const own = createECDH(CURVE);
  const ownPoint = own.generateKeys();
  const shared = own.computeSecret(p256dh);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), p256dh, ownPoint]);
  const secret = derive(shared, auth, info, 32);
  const salt = randomBytes(SALT_BYTES);
  const key = derive(secret, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
  const nonce = derive(secret, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
  const cipher = createCipheriv('aes-128-gcm', key, nonce);
  const sealed = Buffer.concat([cipher.update(Buffer.from(text)), cipher.update(LAST), cipher.final()]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(RECORD_BYTES);
  return Buffer.concat([salt, size, Buffer.from([POINT_BYTES]), ownPoint, sealed, cipher.getAuthTag()]);
}

/** Whether a browser's key can be used at all. */
export function isPoint(p256dh: Buffer): boolean {
  try {
    const own = createECDH(CURVE);
    own.generateKeys();
    own.computeSecret(p256dh);
    return true;
  } catch {
    // OpenSSL says no more than that it is none.
    return false;
  }
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The header that says to a push service who sends. */
export function vapidHeader(
  keys: { publicKey: Buffer; privateKey: KeyObject },
  { endpoint, subject, now }: { endpoint: string; subject: string; now: Date },
): string {
  const exp = Math.floor((now.getTime() + TOKEN_MS) / 1000);
  const token = `${part({ typ: 'JWT', alg: 'ES256' })}.${part({ aud: new URL(endpoint).origin, exp, sub: subject })}`;
  const signature = sign('sha256', Buffer.from(token), { key: keys.privateKey, dsaEncoding: 'ieee-p1363' });
  return `vapid t=${token}.${signature.toString('base64url')}, k=${keys.publicKey.toString('base64url')}`;
}

export const privateKeyOf = (pkcs8: Buffer): KeyObject =>
  createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
