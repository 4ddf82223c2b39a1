import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import type { AnyRoute } from '@tanstack/react-router';
import { ADDRESSES } from './addresses.ts';
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

/** An address that leads to another one. */
const leading = (parent: AnyRoute, [path, lead]: (typeof ADDRESSES)[number]) =>
  createRoute({
    getParentRoute: () => parent,
    path,
    beforeLoad: ({ params, search }) => {
      const { to, search: own } = lead(params as Record<string, string>);
      throw redirect({ to, search: { ...(search as object), ...own } as never, replace: true });
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
      signedIn.addChildren([
        ...SIGNED_IN.map(([path, load]) => page(signedIn, path, load)),
        ...ADDRESSES.map((address) => leading(signedIn, address)),
      ]),
    ]),
    context: { queries },
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultErrorComponent: Crashed,
  });
}
