import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { skillMd, zipOf } from '@troupe/testing/backups/archives';
import { askBackend, person, type Body, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

/** Files of others through the front door: shown first, made whole or not at all. */

let services: Services;
let ann: Person;
before(async () => {
  services = await startServices();
  ann = await person(services, { plan: 'network' });
});
after(() => services.stop());

async function sent(path: string, bytes: Buffer | string, who = ann): Promise<{ status: number; body: Body }> {
  const answer = await fetch(services.web + path, {
    method: 'POST',
    headers: { ...who.headers(), 'content-type': 'application/octet-stream' },
    body: new Uint8Array(Buffer.from(bytes)),
  });
  return { status: answer.status, body: await answer.json() };
}

const count = async (who: Person) => ({
  agents: (await who.ask('GET', '/api/agents')).body.agents.length,
  collections: (await who.ask('GET', '/api/knowledge')).body.collections.length,
  reviews: (await who.ask('GET', '/api/skills')).body.reviews.length,
  tasks: (await who.ask('GET', '/api/scheduled-tasks')).body.tasks.length,
  teams: (await who.ask('GET', '/api/teams')).body.count,
});

const TEAM = `name: House
agents:
  root:
    instruction: Help.
    rag: [guide]
  other: { instruction: Look. }
rag:
  guide:
    docs: [./docs]
    strategies: [{ type: bm25, limit: 2, threshold: 0.1, chunking: { size: 200, overlap: 40 } }]
`;
const LONG = Array.from({ length: 30 }, (_, n) => `The boiler of house ${n} stands in the cellar behind the door.`);
const BUNDLE = zipOf([
  { path: 'agent.yaml', content: TEAM },
  { path: 'docs/house.md', content: `# Boiler\n\n${LONG.join('\n\n')}` },
  { path: 'docs/other.md', content: '# Garden\n\nThe garden has a pond.' },
]);

test('a document of docker-agent with its files: the agents that name a source find its passages, others do not', async () => {
  const before = await count(ann);
  const shown = await sent('/api/imports/preview?name=house.zip', BUNDLE);
  assert.equal(shown.status, 200, JSON.stringify(shown.body));
  assert.deepEqual(shown.body.collections, [{ name: 'guide', documents: 2 }]);
  assert.deepEqual([shown.body.notCarried, shown.body.toGive], [[], []]);
  assert.deepEqual(await count(ann), before, 'a preview made something');

  // A collection of that name is somebody's own, and stays out of it.
  const own = await ann.ask('POST', '/api/knowledge', { name: 'guide' });
  assert.equal(own.status, 201);
  const made = await sent('/api/imports?name=house.zip', BUNDLE);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const [root, other] = made.body.agents;
  const listOf = async (id: string) => (await ann.ask('GET', `/api/agents/${id}/knowledge`)).body.collections;
  const on = (all: Body[]) => all.filter((one) => one.on).map((one) => one.name);
  assert.deepEqual(on(await listOf(root.agentId)), ['guide 2']);
  assert.deepEqual(on(await listOf(other.agentId)), []);
  const collections = (await ann.ask('GET', '/api/knowledge')).body.collections;
  const { id } = collections.find((one: Body) => one.name === 'guide 2');
  const documents = async (): Promise<Body[]> =>
    (await ann.ask('GET', `/api/knowledge/${id}/documents`)).body.documents;
  while ((await documents()).some((one) => one.state === 'waiting')) await delay(50);
  assert.ok(
    (await documents()).every((one) => one.state === 'ready'),
    JSON.stringify(await documents()),
  );
  const found = await ann.ask('GET', `/api/knowledge/search?query=boiler+cellar&collection=${id}`);
  assert.equal(found.body.passages.length, 2, 'the limit of the document holds');
  const { documentId } = found.body.passages[0];
  const page = await ann.ask('GET', `/api/knowledge/documents/${documentId}/passages/1?around=1`);
  const [first, second] = page.body.passages.map((one: Body) => one.text);
  assert.ok(first.length <= 250, `passages are as long as the document says, not ${first.length}`);
  assert.equal(
    second.split('\n\n')[0],
    '2 stands in the cellar behind the door.',
    'each begins with the end of the one before',
  );
  const asked = await askBackend(services, 'GET', `/api/runtime/proxy/${root.agentId}/definition`);
  assert.deepEqual(
    asked.body.definition.knowledge.map((one: Body) => one.name),
    ['guide 2'],
  );
});

test('a team document alone makes its collections too, and says what is to be put into them', async () => {
  const made = await ann.ask('POST', '/api/provision/team', {
    plan: 'network',
    yaml_config: TEAM.replace('guide:', 'guide:\n    description: x'),
  });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  assert.deepEqual(made.body.toGive, [
    { at: 'rag.guide.docs', says: 'put ./docs into the collection guide, or import it together' },
  ]);
  const { collections } = (await ann.ask('GET', `/api/agents/${made.body.agents[0].agentId}/knowledge`)).body;
  assert.deepEqual(
    collections.filter((one: Body) => one.on).map((one: Body) => one.name),
    ['guide 3'],
  );
});

test('a source that is searched by meaning has its model, and the preview says where the texts will go', async () => {
  const model = 'openai/text-embedding-3-small';
  const strategies = `[{ type: chunked-embeddings, embedding_model: ${model} }]`;
  const yaml = TEAM.replace(/strategies: .*/, `strategies: ${strategies}`).replaceAll('guide', 'meant');
  const bundle = zipOf([
    { path: 'agent.yaml', content: yaml },
    { path: 'docs/house.md', content: '# Boiler' },
  ]);
  const shown = await sent('/api/imports/preview?name=house.zip', bundle);
  assert.deepEqual(shown.body.notCarried, []);
  assert.match(shown.body.toGive[0].says, /texts of meant .* go to openai\/text-embedding-3-small, on your account/);
  const made = await sent('/api/imports?name=house.zip', bundle);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { collections } = (await ann.ask('GET', '/api/knowledge')).body;
  assert.equal(collections.find((one: Body) => one.name === 'meant').embeddings, model);
});

const WORKSPACE = [
  { path: 'AGENTS.md', content: 'Be kind to everybody.' },
  { path: 'SOUL.md', content: 'Calm.' },
  { path: 'memory/2026-01-01.md', content: 'It rained.' },
  { path: 'skills/maps/SKILL.md', content: skillMd('maps') },
  {
    path: 'cron/jobs.json',
    content:
      '{"jobs":[{"name":"Morning","schedule":{"kind":"cron","expr":"0 7 * * *"},"payload":{"message":"Good morning"}}]}',
  },
];

test('a workspace of OpenClaw on a plan without teams: files, task, and a skill that waits', async () => {
  const solo = await person(services, { plan: 'solo' });
  const made = await sent('/api/imports', zipOf(WORKSPACE), solo);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const [{ agentId }] = made.body.agents;
  const file = await fetch(`${services.web}/api/agents/${agentId}/files/content?path=AGENTS.md`, {
    headers: solo.headers(),
  });
  assert.equal(await file.text(), 'Be kind to everybody.');
  const { tasks } = (await solo.ask('GET', `/api/scheduled-tasks?agentId=${agentId}`)).body;
  assert.deepEqual(
    tasks.map((one: Body) => [one.name, one.cronSchedule, one.prompt]),
    [['Morning', '0 7 * * *', 'Good morning']],
  );
  const { reviews, skills } = (await solo.ask('GET', '/api/skills')).body;
  assert.deepEqual([reviews.map((one: Body) => one.name), skills.length], [['maps'], 0]);
  const again = await sent('/api/imports', zipOf(WORKSPACE), solo);
  assert.equal(again.status, 402, 'one agent is all that the plan has');
  assert.deepEqual(await count(solo), { agents: 1, collections: 0, reviews: 1, tasks: 1, teams: 1 });
});

test('memories of Letta are the agent’s', async () => {
  const blocks = Array.from({ length: 11 }, (_, n) => ({ id: `b${n}`, label: `l${n}`, value: `v${n}` }));
  const agent = {
    id: 'agent-0',
    name: 'Void',
    system: 'Help.',
    llm_config: { model: 'gpt-4o' },
    block_ids: blocks.map(({ id }) => id),
    tool_ids: [],
  };
  const made = await sent(
    '/api/imports?name=void.af',
    JSON.stringify({ agents: [agent], blocks, tools: [], groups: [], files: [], sources: [], mcp_servers: [] }),
  );
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { memory } = (await ann.ask('GET', `/api/memory?agentId=${made.body.agents[0].agentId}`)).body;
  assert.deepEqual(memory, { l10: 'v10' });
});

test('when a part cannot be made, nothing is', async () => {
  const bob = await person(services, { plan: 'solo' });
  const before = await count(bob);
  // More agents than the plan has, after skills and collections.
  const two = await sent('/api/imports', BUNDLE, bob);
  assert.equal(two.status, 400, JSON.stringify(two.body));
  assert.deepEqual(await count(bob), before);
  // A file that is larger than the plan lets one upload: everything is there by then, and is taken back.
  const large = zipOf([...WORKSPACE, { path: 'MEMORY.md', content: Buffer.alloc(11 * 1024 * 1024, 'a') }]);
  const refused = await sent('/api/imports', large, bob);
  assert.deepEqual([refused.status, refused.body.error], [413, 'A file may have 10 MB at most']);
  assert.deepEqual(await count(bob), before);
});

test('who is not signed in, sends nothing or something else is told so', async () => {
  for (const path of ['/api/imports', '/api/imports/preview']) {
    const stranger = await fetch(services.web + path, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: 'x',
    });
    assert.equal(stranger.status, 401);
    assert.equal((await sent(path, '')).body.error, 'The file is empty');
    assert.match((await sent(path, 'agents: [')).body.error, /^Cannot be imported: Not valid YAML/);
    assert.match(
      (await sent(path, zipOf([{ path: '../x', content: 'x' }]))).body.error,
      /^Cannot be imported: \.\.\/x is no path/,
    );
  }
});
