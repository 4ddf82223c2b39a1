import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { StandIn, StandInRequest } from '@troupe/ai';
import { skillMd, zipOf } from '@troupe/testing/backups/archives';
import { needs } from '@troupe/testing/machine/needs';
import { messagesOf, toolsOf } from '@troupe/testing/services/asked';
import { startObedient, type Obedient } from '@troupe/testing/services/obedient';
import { askBackend, send } from '@troupe/testing/services/people';
import { addUser, type Services, type TestUser } from '@troupe/testing/services/services';

/** Skills through the front door: sent, looked at, accepted, given to an agent, and used in a conversation. */

let services: Services;
let model: StandIn;
let ada: TestUser;
let bob: TestUser;
let agentId: string;
let ask: Obedient['ask'];
let say: Obedient['say'];
let stop: Obedient['stop'];
/** What the model makes of a run. */
let written = '';
before(async () => {
  const ofRun = (request: StandInRequest): string | undefined =>
    messagesOf(request)[0]?.content?.startsWith('You are given notes about one finished run') ? written : undefined;
  ({ services, model, ada, bob, agentId, ask, say, stop } = await startObedient('skills', ofRun));
});
after(() => stop());

async function taken(name: string, body = 'Do it well.', who = ada) {
  const files = [{ path: `${name}/SKILL.md`, content: skillMd(name, body) }];
  const { body: review } = await ask('POST', '/api/skills/reviews', { files }, who);
  const { status, body: skill } = await ask(
    'POST',
    `/api/skills/reviews/${review.id}/accept`,
    { digest: review.digest },
    who,
  );
  assert.equal(status, 200, JSON.stringify([review, skill]));
  return skill;
}
const give = (skillId: string, body: object = {}, who = ada, id = agentId) =>
  ask('PUT', `/api/agents/${id}/skills/${skillId}`, body, who);

test(
  'sent, looked at, accepted, given, and read by the model when it needs it',
  { skip: needs('bubblewrap') },
  async () => {
    const zip = zipOf([
      { path: 'tides/SKILL.md', content: skillMd('tides', 'Add the number of the port to the hour.') },
      { path: 'tides/references/ports.md', content: 'Brest is 4.' },
      { path: 'tides/scripts/hour.sh', content: '#!/bin/sh\necho "high at $((6 + 4))"\n' },
    ]);
    const sent = await fetch(`${services.web}/api/skills/reviews/archive`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.key}`, 'content-type': 'application/octet-stream' },
      body: new Uint8Array(zip),
    });
    const review = (await sent.json()) as { id: string; digest: string; report: { scripts: unknown[] } };
    assert.deepEqual([sent.status, review.report.scripts.length], [201, 1], JSON.stringify(review));
    assert.match(await say('hello'), /hello/);
    assert.ok(!toolsOf(model.requests.at(-1)!).includes('activate_skill'), 'nobody has it yet');

    const { body: skill } = await ask('POST', `/api/skills/reviews/${review.id}/accept`, { digest: review.digest });
    const { body: given } = await give(skill.id, { digest: review.digest });
    assert.deepEqual(
      given.skills.map(({ name, on, behind, version }: Record<string, unknown>) => [name, on, behind, version]),
      [['tides', true, false, 1]],
    );

    const told = await say('call activate_skill {"name":"tides"}');
    const request = model.requests.at(-1)!;
    assert.match(String(messagesOf(request)[0]?.content), /- tides: What tides is for\./);
    assert.doesNotMatch(
      String(messagesOf(request)[0]?.content),
      /number of the port/,
      'the text only when it is asked for',
    );
    assert.match(told, /Skill tides \(sha256:[\s\S]*Add the number of the port[\s\S]*- references\/ports\.md/);
    assert.match(await say('call read_skill_file {"skill":"tides","path":"references/ports.md"}'), /Brest is 4\./);
    assert.match(await say('call shell {"cmd":"/skills/tides/scripts/hour.sh"}'), /high at 10/);
    assert.match(await say('call activate_skill {"name":"none"}'), /You have no skill none/);

    // Another version: the agent keeps the one that it was given until its owner gives it the next.
    const next = await taken('tides', 'Subtract it.');
    const listed = (await ask('GET', `/api/agents/${agentId}/skills`)).body.skills[0];
    assert.deepEqual([listed.behind, listed.pinned, listed.digest], [true, review.digest, next.digest]);
    assert.match(await say('call activate_skill {"name":"tides"}'), /active already/);
    const stale = await give(skill.id, { digest: review.digest });
    assert.deepEqual([stale.status, stale.body.error], [409, 'The skill has changed since: look at it again']);
    await give(skill.id, { digest: next.digest });
    assert.match(await say('call activate_skill {"name":"tides"}'), /Subtract it\./);

    const used = await ask('DELETE', `/api/skills/${skill.id}`);
    assert.deepEqual([used.status, used.body.error], [409, 'Agents have this skill: Ada. Switch it off there first']);
    assert.equal((await ask('DELETE', `/api/agents/${agentId}/skills/${skill.id}`)).status, 200);
    await say('hello again');
    assert.ok(!toolsOf(model.requests.at(-1)!).includes('activate_skill'));
    assert.equal((await ask('DELETE', `/api/skills/${skill.id}`)).status, 200);
  },
);

test('a skill gives no tool, whatever it says', async () => {
  const greedy = await ask('POST', '/api/skills/reviews', {
    files: [{ path: 'SKILL.md', content: skillMd('greedy', 'Call shell now.', 'allowed-tools: shell fetch\n') }],
  });
  const { id, digest } = greedy.body;
  const { body: skill } = await ask('POST', `/api/skills/reviews/${id}/accept`, { digest });
  await ask('PUT', `/api/agents/${agentId}/purpose`, { tools: ['think'] });
  await give(skill.id);
  assert.match(await say('call activate_skill {"name":"greedy"}'), /Call shell now\./);
  assert.match(
    await say('call shell {"cmd":"id"}'),
    /There is no tool shell\. Tools: think, activate_skill, read_skill_file/,
  );
  const { tools } = (await ask('GET', `/api/agents/${agentId}/purpose`)).body;
  assert.deepEqual(tools, ['think']);
  await ask('DELETE', `/api/agents/${agentId}/skills/${skill.id}`);
});

test('an agent has as many skills as its plan says, also when several are given at once', async () => {
  const skills = await Promise.all(['one', 'two', 'three', 'four', 'five'].map((name) => taken(name)));
  const answers = await Promise.all(skills.map(({ id }) => give(id)));
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 200, 200, 400, 400],
  );
  const refused = answers.find(({ status }) => status === 400)!;
  assert.equal(refused.body.error, 'Too many skills for the solo plan (max 3)');
  const { skills: listed, max } = (await ask('GET', `/api/agents/${agentId}/skills`)).body;
  assert.deepEqual([listed.filter(({ on }: { on: boolean }) => on).length, max], [3, 3]);
  // One that it has is given again without counting twice.
  const has = listed.find(({ on }: { on: boolean }) => on);
  assert.equal((await give(has.id)).status, 200);
});

test('somebody else’s skill can be given to no agent, nor a skill to somebody else’s agent', async () => {
  const his = await taken('his', 'x', bob);
  const [mine] = (await ask('GET', '/api/skills')).body.skills;
  assert.deepEqual((await give(his.id)).body, { error: 'Skill not found' });
  assert.equal((await give(mine.id, {}, bob)).status, 404);
  assert.equal((await give('none')).status, 404);
});

test('an agent that runs elsewhere fetches what it was given, and nothing else', async () => {
  const { skills } = (await ask('GET', `/api/agents/${agentId}/skills`)).body;
  const has = skills.find(({ on }: { on: boolean }) => on);
  const hasNot = skills.find(({ on }: { on: boolean }) => !on);
  const fetchOf = (digest: string, id = agentId) =>
    askBackend(services, 'GET', `/v1/skill_files/${digest}`, undefined, { 'x-agent-id': id });
  const { body } = await fetchOf(has.pinned);
  assert.match(Buffer.from(body.files[0].content, 'base64').toString(), /Do it well\./);
  // As the agent itself asks: its own key says which agent it is.
  const { token } = (await ask('GET', `/api/agents/${agentId}/token`)).body;
  const byItself = (key: string) =>
    send(`${services.backend}/v1/skill_files/${has.pinned}`, 'GET', undefined, { authorization: `Bearer ${key}` });
  assert.equal((await byItself(`sk_${token}`)).status, 200);
  assert.equal((await byItself(`sk_${'0'.repeat(64)}`)).status, 401);
  assert.deepEqual((await fetchOf(hasNot.digest)).body, { error: 'Skill not found' });
  assert.equal((await fetchOf(has.pinned, 'none')).status, 404);
  const { body: made } = await ask('POST', '/api/agents/provision', { name: 'Bob' }, bob);
  assert.equal((await fetchOf(has.pinned, made.agent.id)).status, 404);
});

test('names of skills in a request for an agent are skills of the library', async () => {
  const carl = await addUser(services.runtime, { plan: 'solo' });
  await taken('knots', 'x', carl);
  const wish = { autoProvision: true, agentType: 'business', skills: ['knots', 'elsewhere'] };
  const made = await ask('POST', '/api/provision', wish, carl);
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const { skills } = (await ask('GET', `/api/agents/${made.body.agentId}/skills`, undefined, carl)).body;
  assert.deepEqual(
    skills.map(({ name, on }: Record<string, unknown>) => [name, on]),
    [['knots', true]],
  );
});

test('a finished run becomes a draft, without secrets, that goes the way of every skill', async () => {
  const dora = await addUser(services.runtime, { plan: 'solo' });
  const made = await ask('POST', '/api/agents/provision', { name: 'Dora', model: 'openai/gpt-4o-mini' }, dora);
  const { id } = made.body.agent;
  const message = 'call write_file {"path":"plan.md","content":"password: hunter22"}';
  await ask('POST', '/api/chat', { message, agentId: id, topic: 'made' }, dora);
  await ask('POST', '/api/chat', { message: 'call read_file {"path":"none.md"}', agentId: id, topic: 'made' }, dora);
  const { sessions } = (await ask('GET', `/api/agents/${id}/sessions`, undefined, dora)).body;
  const at = `/api/agents/${id}/sessions/${sessions[0].id}`;
  const { events } = (await ask('GET', at, undefined, dora)).body;
  const runs = events.filter(({ type }: { type: string }) => type === 'user').map(({ seq }: { seq: number }) => seq);

  const drafted = (run: number, by?: string) => ask('POST', `${at}/skill`, { run, by }, dora);
  const { status, body: draft } = await drafted(runs[0], 'rules');
  assert.equal(status, 200, JSON.stringify(draft));
  assert.deepEqual([draft.by, draft.isSandbox], ['rules', false]);
  assert.match(draft.content, /^---\nname: call-write-file-path-plan-md\n/);
  assert.match(draft.content, /## Steps\n\n1\. `write_file`: `plan\.md`\n/);
  assert.match(draft.content, /## Tools used\n\n- `write_file`, once/);
  assert.doesNotMatch(draft.content, /hunter22/);
  const failed = (await drafted(runs[1], 'rules')).body;
  assert.match(failed.content, /## Pitfalls\n\n- `read_file` with `none\.md` failed: /);

  // A model writes it unless rules are asked for; it is shown no secret, and what is no skill is a sentence.
  written = JSON.stringify({
    name: 'Write a plan',
    description: 'Plans.',
    steps: ['Write\n## it'],
    pitfalls: ['sk-aaaaaaaaaaaaaaaaaaaa'],
  });
  const { body: modelled } = await drafted(runs[0]);
  assert.deepEqual([modelled.by, modelled.name], ['model', 'write-a-plan'], JSON.stringify(modelled));
  assert.match(modelled.content, /## Steps\n\n1\. Write ## it\n\n## Pitfalls\n\n- \[left out\]/);
  assert.doesNotMatch(JSON.stringify(model.requests.at(-1)), /hunter22/);
  for (const nonsense of ['Here you are.', '{"name": 1}', '{"name":"x","description":"y","steps":[]}']) {
    written = nonsense;
    const { status: no, body: said } = await drafted(runs[0]);
    assert.deepEqual([no, said.code], [502, 'NO_DRAFT'], nonsense);
  }

  assert.deepEqual((await ask('GET', '/api/skills', undefined, dora)).body.skills, [], 'nothing is installed by it');
  const files = [{ path: 'SKILL.md', content: draft.content }];
  assert.equal((await ask('POST', '/api/skills/reviews', { files }, dora)).status, 201);
  assert.deepEqual((await drafted(2)).body, { error: 'Run not found' });
  assert.equal((await ask('POST', `${at}/skill`, { run: runs[0] })).status, 404);
});

test('a team has the skills that its document names; those that come with the platform are put into the library', async () => {
  const eve = await addUser(services.runtime, { plan: 'label' });
  const team = (body: object) => ask('POST', '/api/provision/team', { plan: 'label', ...body }, eve);
  const unknown = await team({ yaml_config: 'agents:\n  root:\n    skills: [nowhere]\n' });
  assert.deepEqual([unknown.status, unknown.body.error], [400, 'There is no skill nowhere in your library']);
  assert.deepEqual((await ask('GET', '/api/skills', undefined, eve)).body.skills, []);
  assert.equal((await ask('GET', '/api/teams', undefined, eve)).body.count, 0, 'nothing is made when it fails');

  const made = await team({ templateKey: 'dev_team' });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const { skills } = (await ask('GET', '/api/skills', undefined, eve)).body;
  assert.deepEqual(
    skills.map(({ name, source, agents }: Record<string, unknown>) => [name, source, (agents as unknown[]).length]),
    [
      ['break-it', 'built-in', 1],
      ['code-change', 'built-in', 1],
      ['work-breakdown', 'built-in', 1],
    ],
  );
  const own = await taken('own', 'x', eve);
  const again = await team({
    yaml_config: 'agents:\n  root:\n    skills: [own, break-it]\n  other:\n    skills: true\n',
  });
  assert.equal(again.status, 200, JSON.stringify(again.body));
  const of = async (index: number) =>
    (await ask('GET', `/api/agents/${again.body.agents[index].agentId}/skills`, undefined, eve)).body.skills
      .filter(({ on }: { on: boolean }) => on)
      .map(({ name }: { name: string }) => name);
  assert.deepEqual(await of(0), ['break-it', 'own']);
  assert.equal((await of(1)).length, 4);
  assert.ok(own.id);
});
