import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import type { AnyRoute } from '@tanstack/react-router';
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
    component: lazyRouteComponent(load),
    validateSearch: (search: Record<string, unknown>) => search as Record<string, string>,
  });

const PUBLIC: [string, Load][] = [['/', () => import('./pages/public/landing.tsx')]];

export function createAppRouter(queries: QueryClient) {
  return createRouter({
    routeTree: root.addChildren(PUBLIC.map(([path, load]) => page(root, path, load))),
    context: { queries },
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultErrorComponent: Crashed,
  });
}
