import type { SystemTx } from '@troupe/db';
import { sql } from 'kysely';

/** As many messages of a channel wait at most. */
const MOST_WAITING = 500;

const untold = (channel: string): string => `Not told on ${channel}: nobody has written to the agent there yet`;

/** The channel that a task's words go to. */
const channelOf = async (tx: SystemTx, taskId: string): Promise<string | null> =>
  (await tx.selectFrom('scheduled_tasks').select('tells').where('id', '=', taskId).executeTakeFirst())?.tells ?? null;

const noteOn = (tx: SystemTx, runId: string, note: string) =>
  tx.updateTable('task_runs').set({ error: note }).where('id', '=', runId).execute();

/**
 * Gives a task's words to a channel, for whoever wrote there last; in the transaction that closes the receipt, so that
 * they are told once. False: nobody has written there, or too much waits.
 */
async function tell(
  tx: SystemTx,
  { id, agentId, userId, tells }: { id: string; agentId: string; userId: string; tells: string },
  words: string,
): Promise<boolean> {
  const { rows } = await sql`
    insert into agent_channel_messages (agent_id, user_id, channel, id, chat, sender, content, state)
    select agent_id, user_id, channel, ${`task:${id}`}, chat, sender,
      jsonb_build_object('text', '', 'words', ${words}::text, 'extra', coalesce(content -> 'extra', '{}') - 'reply'), 'waiting'
    from agent_channel_messages
    where agent_id = ${agentId} and user_id = ${userId} and channel = ${tells} and state <> 'ignored'
      and (select count(*) from agent_channel_messages waiting where waiting.agent_id = ${agentId}
        and waiting.channel = ${tells} and waiting.state = 'waiting') < ${MOST_WAITING}
    order by received_at desc, id limit 1
    on conflict do nothing returning id`.execute(tx);
  return rows.length > 0;
}

/** Gives the words of a run to the channel that its task tells on, if it does; where it cannot, the run says so. */
export async function tellOf(
  tx: SystemTx,
  run: { id: string; taskId: string; userId: string; agentId: string },
  words: string,
): Promise<void> {
  const tells = await channelOf(tx, run.taskId);
  if (tells !== null && !(await tell(tx, { ...run, tells }, words))) await noteOn(tx, run.id, untold(tells));
}
