import { web } from '@troupe/contract';
import { eventStream, respond, serve, type Server } from '@troupe/kernel';
import { pageFor } from './page.ts';
import type { WidgetsService } from './service.ts';
import type { VisitingService } from './visiting.ts';

export function widgetRoutes(server: Server, widgets: WidgetsService, visiting: VisitingService): void {
  serve(server, web.widgets.list, ({ user, params }) => widgets.list(user.id, params.id));
  serve(server, web.widgets.create, ({ user, params, body }) => widgets.create(user, params.id, body));
  serve(server, web.widgets.update, ({ user, params, body }) => widgets.update(user.id, params, body));
  serve(server, web.widgets.rotate, ({ user, params }) => widgets.rotate(user.id, params));
  serve(server, web.widgets.remove, ({ user, params }) => widgets.remove(user.id, params));
  serve(server, web.widgets.listVisitors, ({ user, params }) => widgets.visitors(user.id, params.id));
  serve(server, web.widgets.reply, ({ user, params, body, request }) =>
    widgets.reply(user, params, body, request.address),
  );
  serve(server, web.widgets.giveBack, ({ user, params, request }) => widgets.giveBack(user, params, request.address));

  serve(server, web.widgets.visit, ({ params, body, request }) => visiting.visit(params.key, body.token, request));
  serve(server, web.widgets.say, ({ params, body, request }) => visiting.say(params.key, body, request));
  serve(server, web.widgets.handOver, ({ params, request }) => visiting.handOver(params.key, request));
  serve(server, web.widgets.follow, async ({ params, request }) =>
    eventStream(await visiting.follow(params.key, request, request.signal())),
  );
  serve(server, web.widgets.page, async ({ params }) => respond(pageFor(params.key, await visiting.page(params.key))));
}
