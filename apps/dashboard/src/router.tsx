import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  redirect,
} from '@tanstack/react-router';
import type { AnyRoute } from '@tanstack/react-router';
import { loadPage } from './offline.ts';
import { PUBLIC, SHARED, SIGNED_IN } from './pages.ts';
import type { Load } from './pages.ts';
import { sessionQuery } from './session.ts';
import { Crashed, NotFound } from './shell/fallbacks.tsx';

interface Context {
  queries: QueryClient;
}

const root = createRootRouteWithContext<Context>()({ notFoundComponent: NotFound });

const page = (parent: AnyRoute, path: string, load: Load) =>
  createRoute({
    getParentRoute: () => parent,
    path,
    component: lazyRouteComponent(() => loadPage(load)),
    errorComponent: Crashed,
    validateSearch: (search: Record<string, unknown>) => search as Record<string, string>,
  });

/** What no page has: an address that leads to one, or none. */
const leading = (parent: AnyRoute) =>
  createRoute({
    getParentRoute: () => parent,
    // With `/dashboard/$` the overview itself would be taken for one.
    path: '/dashboard/$place/$',
    beforeLoad: async ({ location, search }) => {
      const { ledBy } = await import('./addresses.ts');
      const led = ledBy(location.pathname, search as Record<string, unknown>);
      if (!led) throw notFound();
      throw redirect({ to: led.to, search: { ...(search as object), ...led.search } as never, replace: true });
    },
  });

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

export function createAppRouter(queries: QueryClient) {
  return createRouter({
    routeTree: root.addChildren([
      ...Object.entries(PUBLIC).map(([path, load]) => page(root, path, load)),
      page(root, ...SHARED),
      signedIn.addChildren([...SIGNED_IN.map(([path, load]) => page(signedIn, path, load)), leading(signedIn)]),
    ]),
    context: { queries },
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultErrorComponent: Crashed,
  });
}
