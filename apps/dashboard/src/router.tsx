import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import type { AnyRoute } from '@tanstack/react-router';
import type { PUBLIC_PAGES } from '@troupe/contract';
import { loadPage } from './offline.ts';
import { sessionQuery } from './session.ts';
import { Crashed, NotFound } from './shell/fallbacks.tsx';

interface Context {
  queries: QueryClient;
}

const root = createRootRouteWithContext<Context>()({ notFoundComponent: NotFound });

/** A module whose default export is the page. Each is a bundle of its own. */
type Load = () => Promise<{ default: () => React.ReactNode }>;

const page = (parent: AnyRoute, path: string, load: Load) =>
  createRoute({
    getParentRoute: () => parent,
    path,
    component: lazyRouteComponent(() => loadPage(load)),
    errorComponent: Crashed,
    validateSearch: (search: Record<string, unknown>) => search as Record<string, string>,
  });

const PUBLIC: Record<(typeof PUBLIC_PAGES)[number], Load> = {
  '/': () => import('./pages/public/landing.tsx'),
  '/pricing': () => import('./pages/public/pricing.tsx'),
  '/login': () => import('./pages/public/login.tsx'),
  '/signup': () => import('./pages/public/signup.tsx'),
  '/forgot-password': () => import('./pages/public/forgot-password.tsx'),
  '/reset-password': () => import('./pages/public/reset-password.tsx'),
  '/verify-email': () => import('./pages/public/verify-email.tsx'),
  '/invite': () => import('./pages/public/invite.tsx'),
};

/** Signed in, or to /login and back. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  component: lazyRouteComponent(() => import('./shell/app-shell.tsx'), 'AppShell'),
  beforeLoad: async ({ context, location }) => {
    const { user } = await context.queries.ensureQueryData(sessionQuery);
    if (!user) throw redirect({ to: '/login', search: { next: location.href } });
  },
});

const SIGNED_IN: [string, Load][] = [
  ['/dashboard', () => import('./pages/overview.tsx')],
  ['/dashboard/inbox', () => import('./pages/inbox.tsx')],
  ['/dashboard/agents', () => import('./pages/agents/list.tsx')],
  ['/dashboard/agents/new', () => import('./pages/agents/create.tsx')],
  ['/dashboard/agents/$id', () => import('./pages/agents/detail.tsx')],
  ['/dashboard/teams', () => import('./pages/teams/teams.tsx')],
  ['/dashboard/tasks', () => import('./pages/operate/tasks.tsx')],
  ['/dashboard/heartbeat', () => import('./pages/operate/heartbeat.tsx')],
  ['/dashboard/devices', () => import('./pages/operate/devices.tsx')],
  ['/dashboard/config', () => import('./pages/operate/config.tsx')],
  ['/dashboard/installations', () => import('./pages/operate/installations.tsx')],
  ['/dashboard/cost', () => import('./pages/money/cost.tsx')],
  ['/dashboard/billing', () => import('./pages/money/billing.tsx')],
  ['/dashboard/wallet', () => import('./pages/money/wallet.tsx')],
  ['/dashboard/underground', () => import('./pages/underground/underground.tsx')],
  ['/dashboard/gateway', () => import('./pages/money/gateway.tsx')],
  ['/dashboard/policy', () => import('./pages/money/policy.tsx')],
  ['/dashboard/settings', () => import('./pages/account/settings.tsx')],
  ['/dashboard/authorize', () => import('./pages/account/authorize.tsx')],
  ['/dashboard/admin', () => import('./pages/account/admin.tsx')],
];

export function createAppRouter(queries: QueryClient) {
  return createRouter({
    routeTree: root.addChildren([
      ...Object.entries(PUBLIC).map(([path, load]) => page(root, path, load)),
      signedIn.addChildren(SIGNED_IN.map(([path, load]) => page(signedIn, path, load))),
    ]),
    context: { queries },
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultErrorComponent: Crashed,
  });
}
