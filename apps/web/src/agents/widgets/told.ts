import type { WidgetVisitor } from '@troupe/contract';
import { iso, isoOrNull } from '@troupe/kernel';
import type { ShownVisitor } from './visitors-store.ts';

/** A visitor as the owner is told of one. */
export const toldVisitor = (row: ShownVisitor): WidgetVisitor => ({
  id: row.id,
  agentId: row.agent_id,
  widgetId: row.widget_id,
  widgetTitle: row.title,
  sessionId: row.session_id,
  state: row.state,
  waitingSince: isoOrNull(row.waiting_since),
  words: row.words,
  origin: row.origin,
  seenAt: iso(row.seen_at),
});
