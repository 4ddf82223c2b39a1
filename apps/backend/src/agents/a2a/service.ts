import type { PushConfig, PushConfigs, PushedTask } from '@troupe/agent';
import { a2aPushWaiting } from '@troupe/contract';
import { notify, type Database } from '@troupe/db';
import { AppError, createCipher, type Cipher, type Clock } from '@troupe/kernel';
import * as store from './store.ts';

/** Who wants to be told of tasks that were given by A2A. Tokens and credentials are sealed, each for its place alone. */

interface Deps {
  db: Database;
  clock: Clock;
  cipher: Cipher;
  /** Only people on this machine use the platform: then http is as good as https. */
  plainAllowed: boolean;
}

export type PushService = ReturnType<typeof createPushConfigs>;

export const pushCipher = (walletKey: string): Cipher => createCipher(walletKey, 'a2a');

const MOST_OF_TASK = 10;
/** Told as the protocol tells errors. */
const TOO_MANY = `A task has ${MOST_OF_TASK} push notification configs at most`;

type Secrets = Pick<PushConfig, 'token' | 'authentication'>;
type Place = Pick<PushedTask, 'sessionId' | 'seq'>;

const nameOf = ({ sessionId, seq }: Place, id: string): string => `a2a ${sessionId} ${seq} ${id}`;

export const openSecrets = (cipher: Cipher, place: Place, id: string, sealed: Buffer): Secrets =>
  JSON.parse(cipher.open(sealed, nameOf(place, id))) as Secrets;

export function createPushConfigs({ db, clock, cipher, plainAllowed }: Deps): PushConfigs {
  return {
    check(url) {
      if (!plainAllowed && !url.toLowerCase().startsWith('https:'))
        throw new AppError(400, 'url must be an address that begins with https://');
    },

    async set(task, { id, url, ...secrets }, version) {
      const sealed = cipher.seal(JSON.stringify(secrets satisfies Secrets), nameOf(task, id));
      await db.asUser(task.userId, async (tx) => {
        if (!(await store.lockSession(tx, task))) throw new AppError(404, 'Task not found');
        if ((await store.countOthers(tx, task, id)) >= MOST_OF_TASK) throw new AppError(400, TOO_MANY);
        await store.putConfig(tx, task, { id, version, url, sealed }, clock());
        // What came to its end before somebody asked to be told of it is told, too.
        if (!(await store.wouldTell(tx, task))) return;
        await store.addDelivery(tx, task, id);
        await notify(tx, a2aPushWaiting, '');
      });
    },

    async list(task) {
      const rows = await store.listConfigs(db, task);
      return rows.map(({ id, url, sealed }) => ({ id, url, ...openSecrets(cipher, task, id, sealed) }));
    },

    async remove(task, id) {
      await store.removeConfig(db, task, id);
    },
  };
}
