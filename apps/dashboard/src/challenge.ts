import { web } from '@troupe/contract';
import { call, statusOf } from './api.ts';

const hex = (bytes: ArrayBuffer) =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');

async function solve(): Promise<string> {
  const { algorithm, challenge, maxnumber, salt, signature } = await call(web.session.getChallenge, {});
  for (let number = 0; number <= maxnumber; number += 1) {
    const digest = await crypto.subtle.digest(algorithm, new TextEncoder().encode(salt + number));
    if (hex(digest) === challenge) return btoa(JSON.stringify({ algorithm, challenge, number, salt, signature }));
  }
  throw new Error('the challenge has no solution');
}

/** Most platforms ask for no proof of work: it is done only once one has refused without it. */
export async function withChallenge<T>(send: (altcha: { altcha?: string }) => Promise<T>): Promise<T> {
  try {
    return await send({});
  } catch (refusal) {
    if (statusOf(refusal) !== 403) throw refusal;
    const altcha = await solve().catch(() => {
      throw refusal;
    });
    return send({ altcha });
  }
}
