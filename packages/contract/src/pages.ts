/** Pages of the dashboard that anybody may see. Those behind the sign-in are at /dashboard and below it. */
export const PUBLIC_PAGES = [
  '/',
  '/pricing',
  '/login',
  '/login/second-step',
  '/signup',
  '/forgot-password',
  '/reset-password',
  '/verify-email',
  '/invite',
] as const;

/** A conversation that somebody shows has a page for whoever has the link. */
export const isPage = (path: string): boolean =>
  /^\/dashboard(\/|$)|^\/shared\/[0-9a-f]{64}$/.test(path) ||
  PUBLIC_PAGES.some((page) => page === path || `${page}/` === path);
