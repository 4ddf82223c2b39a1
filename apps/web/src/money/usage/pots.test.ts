import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { person, provisioned, type Body, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

/** One pot for a lead and its members: whoever spends, all together stay below it. */

const POT = 0.5;
/** As dear as a call may be, so that a gate with a hole would let the sum pass. */
const USAGE = { prompt_tokens: 500, completion_tokens: 4000 };
const CALL_MICROS = 500 * 5 + 4000 * 15;

let services: Services;
let model: StandIn;
let ann: Person;
let team: { teamId: string; agents: { agentId: string; name: string }[] };
before(async () => {
  model = await createStandIn((request, response) => {
    const messages = (request.body['messages'] ?? []) as { role: string; content: string }[];
    const last = messages.at(-1);
    const given = last?.role === 'user' && last.content.startsWith('delegate');
    const args = JSON.stringify({ agent: 'helper', task: 'Do it.' });
    const toolCalls = [{ id: 'c', name: 'transfer_task', arguments: args }];
    replyChat(request, response, given ? { content: null, toolCalls, usage: USAGE } : { content: 'ok', usage: USAGE });
  });
  services = await startServices({ OPENROUTER_API_KEY: 'or-key', OPENROUTER_BASE_URL: model.url });
  ann = await person(services, { plan: 'network' });
  const agent = 'model: openrouter/openai/gpt-4o\n    instruction: Work.\n';
  const yaml = `agents:\n  root:\n    ${agent}    sub_agents: [helper]\n  helper:\n    ${agent}`;
  const made = await ann.ask('POST', '/api/provision/team', { plan: 'network', yaml_config: yaml });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  team = made.body;
});
after(async () => {
  await services.stop();
  await model.close();
});

const setPot = (who: Person, limitUsd: number | null, teamId = team.teamId) =>
  who.ask('PUT', '/api/usage/caps', { scope: 'team', teamId, limitUsd });
const pot = async (): Promise<Body> =>
  (await ann.ask('GET', '/api/usage/caps')).body.caps.find(({ scope }: Body) => scope === 'team');

test('is the team’s owner’s to set, and named by the team', async () => {
  const bob = await person(services, { plan: 'network' });
  const refused = await setPot(bob, 1);
  assert.deepEqual([refused.status, refused.body.error], [404, 'Team not found']);
  for (const body of [
    { scope: 'team', limitUsd: 1 },
    { scope: 'user', teamId: team.teamId, limitUsd: 1 },
  ])
    assert.equal((await ann.ask('PUT', '/api/usage/caps', body)).body.error, 'teamId belongs to scope team');
  assert.equal((await setPot(ann, POT)).status, 200);
  const { budgets } = (await ann.ask('GET', '/api/budgets')).body;
  const shown = budgets.find(({ scope }: Body) => scope === 'team');
  assert.deepEqual([shown.limit, shown.teamId, shown.used], [POT, team.teamId, 0]);
  assert.ok(shown.teamName);
});

test('holds for lead and members at once, exactly, and for nobody else', { timeout: 60_000 }, async () => {
  const say = (agentId: string, n: number) =>
    ann.ask('POST', '/api/chat', { agentId, topic: `t${n}`, message: n % 3 === 0 ? `delegate ${n}` : `work ${n}` });
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, n) => say(team.agents[n % 3 === 0 ? 0 : n % 2]!.agentId, n)),
  );
  const made = model.requests.filter(({ path }) => path.endsWith('/chat/completions')).length;
  assert.ok(made > 2 && made * CALL_MICROS <= POT * 1_000_000, `${made} calls`);
  assert.ok(
    answers.some(({ body }) => /The team’s pot is used up/.test(JSON.stringify(body))),
    JSON.stringify(answers.map(({ body }) => body)),
  );
  let found = await pot();
  for (; found.reservedUsd > 0; found = await pot()) await delay(50);
  assert.ok(Math.abs(found.usedUsd - (made * CALL_MICROS) / 1_000_000) < 1e-9, JSON.stringify(found));
  const other = await provisioned(ann, { name: 'Other', model: 'openai/gpt-4o' });
  const free = await ann.ask('POST', '/api/chat', { agentId: other, message: 'hello' });
  assert.equal(free.body.reply, 'ok', JSON.stringify(free.body));
  // Made larger it goes on; removed nothing of it is left.
  assert.equal((await setPot(ann, 10)).status, 200);
  const more = await say(team.agents[1]!.agentId, 100);
  assert.equal(more.body.reply, 'ok', JSON.stringify(more.body));
  await setPot(ann, null);
  assert.equal(await pot(), undefined);
});
