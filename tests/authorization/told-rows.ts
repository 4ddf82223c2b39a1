import type { Tables } from '@troupe/db';
import { newId } from '@troupe/kernel';
import type { Insertable } from 'kysely';
import type { Marks } from './marks.ts';

const DAY_MS = 86_400_000;

type Add = <T extends keyof Tables>(table: T, values: Insertable<Tables[T]>) => Promise<unknown>;

/** Who is told of a task of A2A, and that there is something to tell; nobody takes it up. */
export async function addPushed(
  add: Add,
  session: { user_id: string; agent_id: string; session_id: string },
  mark: Marks['mark'],
): Promise<void> {
  const now = new Date();
  const { user_id, session_id } = session;
  const url = `https://${mark('a2aHost')}.test/`;
  const sealed = Buffer.from(mark('a2aSecret'));
  await add('a2a_push_configs', { ...session, seq: 1, id: mark('a2a'), version: '1.0', url, sealed, created_at: now });
  await add('a2a_push_deliveries', { user_id, session_id, seq: 1, config_id: mark('a2a'), queued_at: now });
}

/** Browsers that the owner is told by, and what was spent for what. */
export async function addTold(
  add: Add,
  { user_id, agent_id }: { user_id: string; agent_id: string },
  pushId: string,
  mark: Marks['mark'],
): Promise<void> {
  const now = new Date();
  await add('live_readers', { user_id, process: mark('reader'), until: new Date(now.getTime() + DAY_MS) });
  await add('push_subscriptions', {
    id: pushId,
    user_id,
    endpoint: `https://${mark('pushHost')}.test/`,
    p256dh: Buffer.from(mark('p256dh')),
    auth: Buffer.from(mark('auth')),
    name: mark('device'),
    created_at: now,
  });
  await add('push_messages', { id: newId(), user_id, kind: 'test', data: '{}', at: now, queued_at: now });
  const day = now.toISOString().slice(0, 10);
  const tool = { user_id, agent_id, day, tool_name: mark('tool') };
  await add('usage_tools_daily', { ...tool, calls: 1n, successes: 1n, duration_ms: 1n });
  await add('usage_sources_daily', {
    user_id,
    day,
    kind: 'key',
    source_id: mark('source'),
    calls: 1n,
    input_tokens: 4711n,
    output_tokens: 4712n,
    cost_micros: 4713n,
  });
}
