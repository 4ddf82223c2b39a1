import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { replyChat } from '@troupe/ai';
import { CallError, createTroupe, type Troupe } from '@troupe/client';
import { startWorld, type World } from '@troupe/testing/services/world';

/** The published client against a platform that runs. */

let world: World;
let troupe: Troupe;
let agentId: string;
before(async () => {
  world = await startWorld();
  troupe = createTroupe({ url: `${world.services.web}/`, key: world.user.key });
  const made = await troupe.call('POST /api/agents/provision', { body: { name: 'Ada' }, timeout: 120_000 });
  agentId = made.agent.id;
});
after(() => world.stop());

test('endpoints are called by name, typed', async () => {
  const { agents } = await troupe.call('GET /api/agents');
  const names: string[] = agents.map(({ name }) => name);
  assert.deepEqual(names, ['Ada']);
  const { agent } = await troupe.call('GET /api/agents/:id', { params: { id: agentId } });
  assert.equal(agent.id, agentId);
  // @ts-expect-error: there is no such endpoint
  await assert.rejects(troupe.call('GET /api/nothing'), { status: 404 });
  // @ts-expect-error: the agent is not said
  await assert.rejects(troupe.call('GET /api/agents/:id', {}), CallError);
});

test('an answer comes word by word, and whole at the end', async () => {
  const pieces: string[] = [];
  const answer = troupe.talk({ message: 'Say hello.', agentId });
  for (;;) {
    const { done, value } = await answer.next();
    if (done) {
      assert.equal(value, pieces.join(''));
      break;
    }
    pieces.push(value);
  }
  assert.match(pieces.join(''), /Hello from the provider\./);
});

test('who stops listening lets go of the answer', async () => {
  const stop = new AbortController();
  world.openrouter.answer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"choices":[{"index":0,"delta":{"content":"One"}}]}\n\n');
  });
  await assert.rejects(
    async () => {
      for await (const text of troupe.talk({ message: 'Count.', agentId, topic: 'cut', signal: stop.signal }))
        if (text !== '') stop.abort();
    },
    { name: 'AbortError' },
  );
  world.openrouter.answer((request, response) => replyChat(request, response));
});

test('what the platform refuses is an error with its status and words', async () => {
  const stranger = createTroupe({ url: world.services.web, key: 'sk_wrong' });
  await assert.rejects(stranger.call('GET /api/models'), (error: CallError) => {
    assert.deepEqual([error.name, error.status, error.message], ['CallError', 401, 'Unauthorized']);
    return true;
  });
  await assert.rejects(troupe.call('GET /api/agents/:id', { params: { id: 'nobody' } }), { status: 404 });
  await assert.rejects(troupe.call('GET /api/agents/:id', { params: { id: '..' } }), { status: 400 });
  await assert.rejects(troupe.talk({ message: 'x', agentId: 'nobody' }).next(), { status: 404 });
});
