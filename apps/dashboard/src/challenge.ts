import { getChallenge } from '@troupe/contract';
import { call, statusOf } from './api.ts';

const hex = (bytes: ArrayBuffer) =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Solves the platform's proof-of-work where it asks for one; undefined where it does not. */
export async function solveChallenge(): Promise<string | undefined> {
  let task;
  try {
    task = await call(getChallenge, {});
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
  const { algorithm, challenge, maxnumber, salt, signature } = task;
  for (let number = 0; number <= maxnumber; number += 1) {
    const digest = await crypto.subtle.digest(algorithm, new TextEncoder().encode(salt + number));
    if (hex(digest) === challenge) return btoa(JSON.stringify({ algorithm, challenge, number, salt, signature }));
  }
  return undefined;
}
