import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { newId } from '@troupe/kernel';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { send, type Reply } from '@troupe/testing/services/people';

/**
 * What names of items stand for was weighed by the average of the responses that they name: nine hundred names of nothing
 * beside one of a large response, given ten thousand times, passed. Finding each of them froze everybody for minutes, and
 * a large text that is named often became gigabytes.
 */
let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

const respond = (input: unknown): Promise<Reply> =>
  send(
    `${scene.backend}/v1/responses`,
    'POST',
    { model: 'openai/gpt-4o-mini', input },
    { authorization: `Bearer ${scene.attacker.key}` },
  );

const named = (name: string, times: number): object[] => [
  ...Array.from({ length: times }, () => ({ type: 'item_reference', id: name })),
  ...Array.from({ length: 900 }, () => ({ type: 'item_reference', id: `in_${newId()}-0` })),
];

async function kept(input: unknown): Promise<string> {
  const { status, body } = await respond(input);
  assert.equal(status, 200, JSON.stringify(body).slice(0, 300));
  return (body.id as string).slice('resp_'.length);
}

test('a response of many items, one of them named ten thousand times', { timeout: 300_000 }, async () => {
  // As many as one body may have.
  const name = await kept(Array.from({ length: 16_000 }, () => ({ role: 'user', content: 'x' })));
  await scene.unharmed(async () => {
    const { status } = await respond(named(`in_${name}-15999`, 10_000));
    assert.ok(status === 400 || status === 413, String(status));
  });
});

test('a large text, named a thousand times among many others', { timeout: 300_000 }, async () => {
  const name = await kept([{ role: 'user', content: 'y'.repeat(6_000_000) }]);
  const other = await kept('short');
  await sql`insert into stored_responses (id, user_id, previous, input, response, bytes, created_at)
    select left(id, -12) || lpad(n::text, 12, '0'), user_id, previous, input, response, bytes, created_at
    from stored_responses, generate_series(1, 300) n where id = ${`resp_${other}`}`.execute(scene.database.db.system);
  const before = scene.memory();
  await scene.unharmed(async () => {
    const others = Array.from(
      { length: 300 },
      (_, n) => `in_${other.slice(0, -12)}${String(n + 1).padStart(12, '0')}-0`,
    );
    const { status } = await respond(
      [...others, ...Array.from({ length: 1000 }, () => `in_${name}-0`)].map((id) => ({ type: 'item_reference', id })),
    );
    assert.equal(status, 413);
  });
  assert.ok(scene.memory() - before < 300, `it took ${Math.round(scene.memory() - before)} MB`);
});

test('items that are named are found as before', async () => {
  const name = await kept([
    { role: 'user', content: 'one' },
    { role: 'user', content: 'two' },
  ]);
  await kept([
    { type: 'item_reference', id: `in_${name}-1` },
    { type: 'item_reference', id: `in_${name}-1` },
  ]);
  const asked = scene.director.provider.requests.at(-1)!.body['messages'] as { content: unknown }[];
  assert.deepEqual(
    asked.map(({ content }) => content),
    ['two', 'two'],
  );
});
