import type { Database } from '@troupe/db';
import { newId } from '@troupe/kernel';
import type { Marks } from './marks.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- each test says what it reads of an answer
type Ask = (method: string, path: string, body?: unknown) => Promise<any>;

interface Whose {
  userId: string;
  agentId: string;
  /** The conversation of the visitor. */
  sessionId: string;
}

/** A widget of the owner's, and somebody who has talked there. */
export async function addWidget(db: Database, ask: Ask, mark: Marks['mark'], { userId, agentId, sessionId }: Whose) {
  const given = { title: mark('widget'), greeting: mark('greeting'), hosted: true };
  const { widget } = await ask('POST', `/api/agents/${agentId}/widgets`, given);
  const visitorId = newId();
  const now = new Date();
  await db.system
    .insertInto('widget_visitors')
    .values({
      id: visitorId,
      widget_id: widget.id,
      user_id: userId,
      agent_id: agentId,
      session_id: sessionId,
      words: mark('visitorWords'),
      origin: `https://${mark('site').toLowerCase()}.example`,
      created_at: now,
      seen_at: now,
    })
    .execute();
  return { widgetId: widget.id as string, widgetKey: widget.publicKey as string, visitorId };
}
