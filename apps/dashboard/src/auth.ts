/** A path to go to after sign-in; anything that could leave the site is dropped. */
export const safeNext = (next: string | undefined) =>
  next && /^\/(?![/\\])/.test(next) && !next.startsWith('/login') ? next : '/dashboard';
