import { sql } from 'kysely';
import { nothing, unless, type Prepare } from './hostile.ts';

const MESSAGES = 100;
const BYTES = 1_000_000;
const READERS = 10;

/** A conversation of a hundred messages of a megabyte, and many who read all of it at once. */
export const hostileConversation: Prepare = async ({ attacker, database }) => {
  const { agentId } = attacker;
  await attacker.ask('POST', '/api/chat', { agentId, topic: 'huge', message: 'hello' });
  const { body } = await attacker.ask('GET', `/api/agents/${agentId}/sessions`);
  const id = body.sessions[0].id as string;
  // Said by a user like any other, but not sent to a model each time.
  await sql`insert into agent_events (session_id, seq, agent_id, user_id, data)
    select session_id, 1000 + n, agent_id, user_id, jsonb_set(data, '{content}', to_jsonb(repeat('0123456789', ${BYTES / 10}::int)))
    from agent_events, generate_series(1, ${MESSAGES}::int) n
    where session_id = ${id} and seq = (select min(seq) from agent_events where session_id = ${id} and type = 'user')`.execute(
    database.db.system,
  );
  const read = () => attacker.ask('GET', `/api/agents/${agentId}/sessions/${id}?limit=1000`);
  return {
    attack: (signal) => unless(signal, Promise.all(Array.from({ length: READERS }, read))),
    end: nothing,
  };
};
