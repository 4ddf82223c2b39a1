import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

export const sha256Hex = (value: string): string => hash('sha256', value, 'hex');

export const hmacHex = (key: string, value: string): string => createHmac('sha256', key).update(value).digest('hex');

/** Compares without telling, by the time it takes, how much of the two agrees; at most whether they are equally long. */
export function sameSecret(given: string, expected: string): boolean {
  const a = Buffer.from(given);
  const b = Buffer.from(expected);
  return a.length === b.length && timingSafeEqual(a, b);
}

const VERSION = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;

export interface Cipher {
  /** `context` names what the value belongs to; the same is needed to open it, so a row's value is useless in another row. */
  seal: (plain: string, context: string) => Buffer;
  open: (sealed: Uint8Array, context: string) => string;
}

/** A secret may be a comma list, newest first: the first one seals, all of them open. */
export const secretList = (secret: string): string[] => secret.split(',').map((part) => part.trim());

/** AES-256-GCM under a key derived from `secret` for this `purpose`. */
export function createCipher(secret: string, purpose: string): Cipher {
  const ciphers = secretList(secret).map((part) => singleCipher(part, purpose));
  return {
    seal: (plain, context) => ciphers[0]!.seal(plain, context),
    open(sealed, context) {
      let failure: unknown;
      for (const cipher of ciphers) {
        try {
          return cipher.open(sealed, context);
        } catch (error) {
          failure = error;
        }
      }
      throw failure;
    },
  };
}

function singleCipher(secret: string, purpose: string): Cipher {
  const key = Buffer.from(hkdfSync('sha256', secret, 'troupe', purpose, 32));
  return {
    seal(plain, context) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, iv);
      cipher.setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), iv, cipher.getAuthTag(), body]);
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed);
      if (bytes[0] !== VERSION) throw new Error('sealed value has an unknown version');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(1, 1 + IV_BYTES));
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(bytes.subarray(1 + IV_BYTES, 1 + IV_BYTES + TAG_BYTES));
      return decipher.update(bytes.subarray(1 + IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    },
  };
}
