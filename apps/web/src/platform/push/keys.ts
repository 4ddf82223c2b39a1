import type { KeyObject } from 'node:crypto';
import type { Database } from '@troupe/db';
import { createCipher, type Cipher, type Clock } from '@troupe/kernel';
import { newPushKeys, privateKeyOf } from './seal.ts';
import { addKeys, readKeys } from './store.ts';

export interface OwnKeys {
  publicKey: Buffer;
  privateKey: KeyObject;
}

/** Sealed under this name. */
const NAME = 'push-key';

export const keyCipher = (walletKey: string): Cipher => createCipher(walletKey, 'push');

/** The platform's own keys, made by whoever asks first and the same for all from then on. */
export function createKeys({ db, clock, cipher }: { db: Database; clock: Clock; cipher: Cipher }) {
  let known: OwnKeys | undefined;
  return async function keys(): Promise<OwnKeys> {
    if (known) return known;
    let row = await readKeys(db.system);
    if (!row) {
      const { publicKey, privateKey } = newPushKeys();
      await addKeys(db.system, publicKey, cipher.seal(privateKey.toString('base64'), NAME), clock());
      row = await readKeys(db.system);
    }
    if (!row) throw new Error('the keys for push messages were not kept');
    const privateKey = privateKeyOf(Buffer.from(cipher.open(row.private_key, NAME), 'base64'));
    return (known = { publicKey: row.public_key, privateKey });
  };
}
