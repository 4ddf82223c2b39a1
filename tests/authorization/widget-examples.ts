import type { Make } from './example.ts';

const WIDGET = '/api/agents/:id/widgets/:widgetId';
const VISITOR = '/api/agents/:id/visitors/:visitorId';
const widget = ({ agentId: id, widgetId }: { agentId: string; widgetId: string }) => ({ params: { id, widgetId } });
const visitor = ({ agentId: id, visitorId }: { agentId: string; visitorId: string }) => ({ params: { id, visitorId } });
const byKey = ({ widgetKey: key }: { widgetKey: string }) => ({ params: { key } });

/** Widgets of an agent, and what their visitors call. */
export const WIDGETS: Record<string, Make> = {
  'POST /api/agents/:id/widgets': ({ agentId: id }) => ({ params: { id }, body: { title: 'x' } }),
  [`PATCH ${WIDGET}`]: (ids) => ({ ...widget(ids), body: { title: 'x' } }),
  [`POST ${WIDGET}/rotate`]: widget,
  [`DELETE ${WIDGET}`]: widget,
  [`POST ${VISITOR}/reply`]: (ids) => ({ ...visitor(ids), body: { message: 'x', id: 'm-1' } }),
  [`POST ${VISITOR}/return`]: visitor,
  'POST /api/widgets/:key/visitors': (ids) => ({ ...byKey(ids), body: {} }),
  'POST /api/widgets/:key/messages': (ids) => ({ ...byKey(ids), body: { message: 'x', id: 'm-1' } }),
  'POST /api/widgets/:key/handover': byKey,
  'GET /api/widgets/:key/events': byKey,
  'GET /w/:key': byKey,
};
