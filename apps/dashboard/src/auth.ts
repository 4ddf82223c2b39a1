/** A path to go to after sign-in; anything that could leave the site is dropped. */
export function safeNext(next: string | undefined): string {
  // As a browser reads it: it leaves out tabs and takes a backslash for a slash.
  const isHere = next?.startsWith('/') && URL.parse(next, 'http://here.invalid')?.origin === 'http://here.invalid';
  return isHere && !next?.startsWith('/login') ? next! : '/dashboard';
}
