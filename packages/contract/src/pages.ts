/** Pages of the dashboard that anybody may see. Those behind the sign-in are at /dashboard and below it. */
export const PUBLIC_PAGES = [
  '/',
  '/pricing',
  '/login',
  '/signup',
  '/forgot-password',
  '/reset-password',
  '/verify-email',
  '/invite',
] as const;

export const isPage = (path: string): boolean =>
  /^\/dashboard(\/|$)/.test(path) || PUBLIC_PAGES.some((page) => page === path || `${page}/` === path);
