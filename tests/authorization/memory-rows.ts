import type { Database } from '@troupe/db';
import { newId } from '@troupe/kernel';
import type { Marks } from './marks.ts';

interface Subject {
  userId: string;
  agentId: string;
  conversationId: string;
}

/** A fact that was taken out of a conversation, as numbers too, and how the memory stands. */
export async function addFact(db: Database, { userId, agentId, conversationId }: Subject, { mark }: Marks) {
  const [factId, now] = [newId(), new Date()];
  const whose = { user_id: userId, scope: `agent:${agentId}` };
  const ends = new Date(now.getTime() + 86_400_000);
  await db.system
    .insertInto('agent_memory')
    .values({
      ...whose,
      id: factId,
      agent_id: agentId,
      content: mark('fact'),
      created_at: now,
      updated_at: now,
      expires_at: ends,
      source_session: conversationId,
      source_seq: 1,
    })
    .execute();
  const model = mark('memoryModel');
  await db.system
    .insertInto('agent_memory_vectors')
    .values({
      ...whose,
      memory_id: factId,
      model,
      dimension: 8,
      made_of: now,
      bits: '10100101',
      vector: Buffer.alloc(8, 7),
    })
    .execute();
  await db.system
    .insertInto('agent_memory_models')
    .values({ ...whose, model, dimension: 8, note: mark('meaningNote') })
    .execute();
  await db.system
    .insertInto('agent_memory_care')
    .values({ ...whose, agent_id: agentId, facts_note: mark('factsNote') })
    .execute();
  await db.system
    .insertInto('agent_fact_progress')
    .values({ session_id: conversationId, user_id: userId, seq: 1 })
    .execute();
  return { factId };
}
