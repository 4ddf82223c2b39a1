import type { Entry } from '@troupe/accounts';
import { iso, respond, type Answer, type Cookie } from '@troupe/kernel';

interface Entered extends Entry {
  user: { id: string; name: string };
  /** Known from now on. */
  device?: Cookie;
}

/** What a first step is answered with: who is signed in, or what is still owed. */
export function entered({ user, cookie, step, device }: Entered): Answer {
  const body = step
    ? { ok: false, secondStep: { methods: step.methods, expiresAt: iso(step.expiresAt) } }
    : { ok: true, user };
  return respond({ body, cookies: [cookie, ...(device ? [device] : [])] });
}
