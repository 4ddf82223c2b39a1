import type { Entry } from '@troupe/accounts';
import { iso, respond, type Answer } from '@troupe/kernel';

/** What a first step is answered with: who is signed in, or what is still owed. */
export function entered({ user, cookie, step }: Entry & { user: { id: string; name: string } }): Answer {
  const body = step
    ? { ok: false, secondStep: { methods: step.methods, expiresAt: iso(step.expiresAt) } }
    : { ok: true, user };
  return respond({ body, cookies: [cookie] });
}
