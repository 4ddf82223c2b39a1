import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { steps } from '@troupe/testing/services/director';
import { elsewhere } from '@troupe/testing/services/people';
import { TEST_SECRETS } from '@troupe/testing/http/server';

/** Of two messages at once in one conversation, one was told what the other was answered. */

const PAIRS = 200;
const AT_ONCE = 20;

let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

interface Said {
  topic: string;
  name: string;
  reply: string;
}

async function say(topic: string, name: string): Promise<Said> {
  const { attacker } = scene;
  const body = { agentId: attacker.agentId, topic, message: steps({ say: name }) };
  const { status, body: answer } = await attacker.ask('POST', '/api/chat', body);
  assert.equal(status, 200, JSON.stringify(answer));
  return { topic, name, reply: String(answer.reply) };
}

/** The same as a stream: what its last event says is all of the text. */
async function sayStreamed(topic: string, name: string): Promise<Said> {
  const { attacker, web } = scene;
  const response = await fetch(`${web}/api/chat`, {
    method: 'POST',
    headers: {
      accept: 'text/event-stream',
      'content-type': 'application/json',
      cookie: attacker.cookie,
      authorization: `Bearer ${TEST_SECRETS.internalKey}`,
      'x-client-ip': elsewhere(),
    },
    body: JSON.stringify({ agentId: attacker.agentId, topic, message: steps({ say: name }) }),
  });
  const text = await response.text();
  const done = /event: done\ndata: (.*)/.exec(text)?.[1];
  assert.ok(done, text);
  return { topic, name, reply: (JSON.parse(done) as { reply: string }).reply };
}

/** The first words in the log that saw the message: a model that is shown both at once answers both with one. */
async function answered({ topic, name }: Said): Promise<string | undefined> {
  const { rows } = await sql<{ reply: string }>`
    select a.data ->> 'content' as reply from agent_sessions s
      join agent_events u on u.session_id = s.id and u.type = 'user' and u.data ->> 'content' = ${steps({ say: name })}
      join agent_events a on a.session_id = s.id and a.type = 'assistant' and (a.data ->> 'saw')::integer >= u.seq
    where s.agent_id = ${scene.attacker.agentId} and s.key = ${topic} order by a.seq limit 1`.execute(
    scene.database.db.system,
  );
  return rows[0]?.reply;
}

test('every message gets its own answer, with two at once in each conversation', { timeout: 180_000 }, async () => {
  const all: Said[] = [];
  for (let start = 0; start < PAIRS; start += AT_ONCE) {
    const pairs = Array.from({ length: AT_ONCE }, (_, index) => start + index);
    all.push(
      ...(await Promise.all(
        pairs.flatMap((n) => {
          const ask = n % 2 === 0 ? say : sayStreamed;
          return [ask(`pair ${n}`, `first of ${n}`), ask(`pair ${n}`, `second of ${n}`)];
        }),
      )),
    );
  }
  assert.equal(all.length, PAIRS * 2);
  for (const said of all)
    assert.equal(said.reply, await answered(said), `${said.name} was answered with another's words`);
  // Without any that were answered apart this would show nothing.
  const apart = all.filter(({ name, reply }) => name.startsWith('first') && name === reply).length;
  assert.ok(apart > PAIRS / 10, `only ${apart} pairs were answered apart`);
});
