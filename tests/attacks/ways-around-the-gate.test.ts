import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { send } from '@troupe/testing/services/people';

/** Changes of an agent waited for its cases in the dashboard, and were taken at once by a client of Managed Agents. */
let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

test('an agent whose changes wait for its cases is changed by no other door', async () => {
  const { attacker, backend } = scene;
  const of = `/api/agents/${attacker.agentId}`;
  const v1 = (body: object) =>
    send(`${backend}/v1/agents/${attacker.agentId}`, 'POST', body, { authorization: `Bearer ${attacker.key}` });
  const made = await attacker.ask('POST', `${of}/evaluation-cases`, {
    name: 'polite',
    input: 'Hello',
    checks: [{ kind: 'contains', text: 'hello' }],
  });
  assert.equal(made.status, 201);
  assert.equal((await attacker.ask('PUT', `${of}/evaluation-gate`, { enabled: true })).status, 200);
  const shown = async () => {
    const { websocketUrl: _, ...agent } = (await attacker.ask('GET', of)).body.agent;
    return [agent, (await attacker.ask('GET', `${of}/config`)).body];
  };
  const before = await shown();
  for (const change of [{ system: 'Be rude.' }, { model: 'openai/gpt-4o' }, { tools: [], name: 'Eve' }]) {
    const { status, body } = await v1(change);
    assert.equal(status, 409, JSON.stringify(body));
    assert.match(body.error.message, /cases of this agent/);
  }
  assert.deepEqual(await shown(), before);
  // What the cases say nothing about is taken as ever.
  assert.equal((await v1({ metadata: { team: 'a' } })).status, 200);
  assert.equal((await v1({ name: 'Bob' })).status, 200);
  await attacker.ask('PUT', `${of}/evaluation-gate`, { enabled: false });
  assert.equal((await v1({ system: 'Be kind.' })).status, 200);
});
