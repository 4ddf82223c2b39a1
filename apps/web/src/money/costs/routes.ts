import { web } from '@troupe/contract';
import { respond, serve, type Server } from '@troupe/kernel';
import type { CostsService } from './service.ts';

const EVERYBODY = 'everybody';

const file = ({ name, body }: { name: string; body: string }) =>
  respond({
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${name}"`,
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
    },
    body,
  });

export function costsRoutes(server: Server, costs: CostsService): void {
  const own = (user: { id: string }) => ({ userId: user.id });
  serve(server, web.costs.get, ({ user, query }) => costs.get(own(user), query.by, query));
  serve(server, web.costs.download, async ({ user, query }) => file(await costs.csv(own(user), query.by, query)));
  serve(server, web.costs.getForecast, ({ user }) => costs.forecast(own(user)));
  serve(server, web.costs.getBudgets, ({ user }) => costs.budgets(user));
  serve(server, web.costs.getOfAll, ({ query }) => costs.get(EVERYBODY, query.by, query));
  serve(server, web.costs.downloadOfAll, async ({ query }) => file(await costs.csv(EVERYBODY, query.by, query)));
  serve(server, web.costs.getForecastOfAll, () => costs.forecast(EVERYBODY));
}
