import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createDirector, steps, type Director } from '@troupe/testing/services/director';
import { person, type Body, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

/** An agent of a docker-agent document asks its person; the question is found and answered from where it is shown. */

let services: Services;
let director: Director;
let ann: Person;
let agentId: string;
before(async () => {
  director = await createDirector();
  services = await startServices({ OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: director.provider.url });
  ann = await person(services, { plan: 'network' });
  const yaml = 'agents:\n  root:\n    instruction: Ask.\n    toolsets:\n      - type: user_prompt\n';
  const made = await ann.ask('POST', '/api/provision/team', { plan: 'network', yaml_config: yaml });
  assert.deepEqual([made.status, made.body.notCarried], [200, []], JSON.stringify(made.body));
  agentId = made.body.agents[0].agentId;
});
after(async () => {
  await services.stop();
  await director.provider.close();
});

const question = { message: 'Which colour?', title: 'Paint', options: ['red', 'blue'] };
const items = async (): Promise<Body[]> => (await ann.ask('GET', '/api/inbox')).body.items;
const decide = (id: string, body: object) => ann.ask('POST', `/api/agents/${agentId}/approvals/${id}`, body);

async function asked(topic: string): Promise<Body> {
  const message = steps({ tool: 'user_prompt', args: question });
  await ann.ask('POST', `/api/agents/${agentId}/messages`, { message, topic });
  for (;;) {
    const [found] = await items();
    if (found) return found;
    await delay(30);
  }
}

async function ended({ sessionId }: Body): Promise<Body[]> {
  for (;;) {
    const { body } = await ann.ask('GET', `/api/agents/${agentId}/sessions/${sessionId}`);
    if (body.events.at(-1)?.type === 'run_ended') return body.events;
    await delay(30);
  }
}

test('a question waits in the inbox as one, is answered there once, and the agent goes on with the words', async () => {
  const item = await asked('paint');
  assert.deepEqual([item.kind, item.tool, item.question], ['approval', 'user_prompt', question]);
  assert.equal((await decide(item.id, { approved: true, answer: 'x'.repeat(20_001) })).status, 400);
  assert.equal((await decide(item.id, { approved: true, answer: 'green' })).status, 200);
  assert.equal((await decide(item.id, { approved: true, answer: 'red' })).status, 409);
  const events = await ended(item);
  assert.equal(events.findLast(({ type }) => type === 'assistant')?.content, 'green');
  assert.equal(events.find(({ type }) => type === 'approval_decided')?.answer, 'green');
  assert.deepEqual(await items(), []);
});

test('what is said in the conversation is the answer too, and nothing is left in the inbox', async () => {
  const item = await asked('walls');
  const said = await ann.ask('POST', `/api/agents/${agentId}/messages`, { message: 'blue', topic: 'walls' });
  assert.equal(said.status, 202, JSON.stringify(said.body));
  const events = await ended(item);
  assert.match(events.find(({ type }) => type === 'tool_result')?.content, /^They wrote in the conversation instead/);
  assert.deepEqual(await items(), []);
});
