import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { needs } from '@troupe/testing/machine/needs';
import { createDirector, steps, type Director, type Step } from '@troupe/testing/services/director';
import { person, type Body, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

/** Cases, evaluations and the gate through the front door; the model does what a case says. */

const MODEL = 'openai/gpt-4o-mini';
let services: Services;
let director: Director;
let ann: Person;
let ben: Person;

before(async () => {
  director = await createDirector();
  services = await startServices({ OPENROUTER_API_KEY: 'k', OPENROUTER_BASE_URL: director.provider.url });
  ann = await person(services, { plan: 'label' });
  ben = await person(services, { plan: 'label' });
});
after(async () => {
  await services.stop();
  await director.provider.close();
});

async function made(who: Person = ann, config: object = {}): Promise<string> {
  const { status, body } = await who.ask('POST', '/api/agents/provision', { name: 'Scout', model: MODEL, config });
  assert.equal(status, 201, JSON.stringify(body));
  return body.agent.id;
}
const addCase = async (
  agent: string,
  name: string,
  does: Step[],
  checks: object[],
  more: object = {},
): Promise<Body> => {
  const { status, body } = await ann.ask('POST', `/api/agents/${agent}/evaluation-cases`, {
    name,
    input: steps(...does),
    checks,
    ...more,
  });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
};
const start = (agent: string, body: object = {}, who = ann) =>
  who.ask('POST', `/api/agents/${agent}/evaluations`, body);
const read = async (agent: string, id: string): Promise<Body> =>
  (await ann.ask('GET', `/api/agents/${agent}/evaluations/${id}`)).body;
/** Until it is over; with a change that is to be taken, until that is decided. */
async function over(agent: string, id: string): Promise<Body> {
  for (const end = Date.now() + 45_000; ;) {
    const found = await read(agent, id);
    const isOpen = found.status === 'running' || found.results.some((one: Body) => one.status === 'running');
    const waits = found.takes && found.status === 'passed' && found.takenAt === null && found.notTaken === null;
    if (!isOpen && !waits) return found;
    assert.ok(Date.now() < end, JSON.stringify(found));
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}
async function ran(agent: string, body: object = {}): Promise<Body> {
  const begun = await start(agent, body);
  assert.equal(begun.status, 202, JSON.stringify(begun.body));
  return over(agent, begun.body.id);
}
const states = ({ results }: Body): string[] => results.map(({ status }: Body) => status);

test('each check says what it found, and the run leaves nothing in the agent', async () => {
  const agent = await made();
  const kept = await ann.ask('POST', '/api/memory', { agentId: agent, key: 'port', memory: 'The port is Brest.' });
  assert.equal(kept.status, 200, JSON.stringify(kept.body));
  const good = [
    { kind: 'contains', text: 'BREST' },
    { kind: 'lacks', text: 'Lisbon' },
    { kind: 'regex', pattern: '^\\{.*\\}$' },
    { kind: 'schema', schema: { type: 'object', properties: { port: { type: 'string' } }, required: ['port'] } },
    { kind: 'called', tool: 'write_file', with: 'plan.md' },
    { kind: 'not_called', tool: 'shell' },
    { kind: 'cost', mostUsd: 1 },
    { kind: 'time', mostSeconds: 60 },
  ];
  const does: Step[] = [
    { tool: 'write_file', args: { path: 'plan.md', content: 'x' } },
    { tool: 'add_memory', args: { memory: 'Never mind Lisbon.' } },
    { say: '{"port": "Brest"}' },
  ];
  await addCase(agent, 'good', does, good);
  await addCase(
    agent,
    'bad',
    [{ say: 'Lisbon' }],
    [
      { kind: 'contains', text: 'Brest' },
      { kind: 'lacks', text: 'lisbon' },
      { kind: 'regex', pattern: '(' },
      { kind: 'schema', schema: { type: 'object' } },
      { kind: 'called', tool: 'fetch' },
    ],
  );
  await addCase(
    agent,
    'knows',
    [{ tool: 'search_memories', args: { query: 'port' } }],
    [
      { kind: 'contains', text: 'The port is Brest' },
      { kind: 'lacks', text: 'Lisbon' },
    ],
  );
  const found = await ran(agent);
  assert.equal(found.status, 'failed');
  assert.deepEqual(states(found), ['passed', 'failed', 'passed'], JSON.stringify(found.results));
  const [first, second] = found.results;
  assert.deepEqual(
    first.calls.map(({ tool, isRun, isError }: Body) => [tool, isRun, isError]),
    [
      ['write_file', true, false],
      ['add_memory', true, false],
    ],
  );
  assert.ok(first.costUsd > 0 && first.tokens > 0 && found.costUsd >= first.costUsd);
  assert.deepEqual(
    second.checks.map(({ passed, says }: Body) => [passed, says.replace(/read: .*/s, 'read')]),
    [
      [false, 'The answer lacks “Brest”'],
      [false, 'The answer has “lisbon”'],
      [false, 'The expression cannot be read'],
      [false, 'The answer is no JSON'],
      [false, 'fetch was not called'],
    ],
  );
  // Neither its conversations, nor its memory, nor its files know of it; the account does.
  assert.deepEqual((await ann.ask('GET', `/api/agents/${agent}/sessions`)).body.sessions, []);
  const { memory } = (await ann.ask('GET', `/api/memory?agentId=${agent}`)).body;
  assert.deepEqual(memory, { port: 'The port is Brest.' });
  assert.deepEqual((await ann.ask('GET', `/api/agents/${agent}/files`)).body.entries, []);
  assert.deepEqual(await readdir(path.join(services.runtime.dataDir, 'trials')).catch(() => []), []);

  // The next one stands beside it.
  const [, bad] = (await ann.ask('GET', `/api/agents/${agent}/evaluation-cases`)).body.cases;
  const mended = { name: 'bad', input: bad.input, checks: [{ kind: 'contains', text: 'Lisbon' }] };
  assert.equal((await ann.ask('PUT', `/api/agents/${agent}/evaluation-cases/${bad.id}`, mended)).body.revision, 2);
  const next = await ran(agent);
  assert.deepEqual([next.status, next.before.id, next.before.passed], ['passed', found.id, 2]);
  assert.deepEqual(
    next.results.map(({ was }: Body) => was),
    ['passed', 'failed', 'passed'],
  );
});

test('what would act outside is not run: it answers what the case says, or that this is a trial', async () => {
  const agent = await made(ann, { safety: { approvals: { write_file: 'ask' } } });
  const at = services.web.replace(/^http/, 'http');
  await ann.ask('PUT', `/api/agents/${agent}/purpose`, { tools: ['browser', 'filesystem'] });
  await addCase(
    agent,
    'stubbed',
    [{ tool: 'browser_open', args: { url: at } }],
    [{ kind: 'contains', text: 'a page about tides' }],
    { stubs: [{ tool: 'browser_open', result: 'a page about tides' }] },
  );
  await addCase(
    agent,
    'refused',
    [{ tool: 'browser_open', args: { url: at } }],
    [{ kind: 'contains', text: 'This is a trial' }],
  );
  await addCase(
    agent,
    'asks',
    [{ tool: 'write_file', args: { path: 'a', content: 'b' } }],
    [{ kind: 'contains', text: 'The owner refused this call' }],
  );
  const found = await ran(agent);
  assert.deepEqual(states(found), ['passed', 'passed', 'passed'], JSON.stringify(found.results));
  assert.deepEqual(
    found.results.flatMap(({ calls }: Body) => calls.map(({ isRun }: Body) => isRun)),
    [false, false, false],
  );
  assert.deepEqual(
    (await ann.ask('GET', '/api/inbox')).body.items.filter((one: Body) => one.kind === 'approval'),
    [],
  );
});

test('commands run in files of their own and reach nobody', { skip: needs('bubblewrap') }, async () => {
  const agent = await made(ann, { safety: { allowedDomains: ['localhost'] } });
  const cmd = `echo hello > made.txt; cat made.txt; env | grep -i -c proxy`;
  await addCase(agent, 'shell', [{ tool: 'shell', args: { cmd } }], [{ kind: 'regex', pattern: 'hello\\n0' }]);
  const found = await ran(agent);
  assert.deepEqual(states(found), ['passed'], JSON.stringify(found.results));
  assert.deepEqual((await ann.ask('GET', `/api/agents/${agent}/files`)).body.entries, []);
});

test('a judge says yes or no; what is no verdict is none', async () => {
  const agent = await made();
  // The stand-in answers every message that is no list of steps with “ok”: no verdict.
  await addCase(agent, 'nonsense', [{ say: 'hi' }], [{ kind: 'judge', criteria: 'Is it polite?' }]);
  const found = await ran(agent);
  assert.deepEqual(states(found), ['broken']);
  assert.deepEqual(found.results[0].checks[0].passed, null);
  assert.match(found.results[0].checks[0].says, /no verdict that can be used/);
  assert.equal(found.status, 'failed');
});

test('an expression that takes for ever is stopped, and so is a case that never ends', async () => {
  const agent = await made();
  await addCase(agent, 'slow words', [{ say: `${'a'.repeat(40)}!` }], [{ kind: 'regex', pattern: '^(a+)+$' }]);
  await addCase(agent, 'endless', [{ wait: 'never' }], [{ kind: 'contains', text: 'x' }], { maxSeconds: 1 });
  const found = await ran(agent);
  assert.deepEqual(states(found), ['failed', 'failed'], JSON.stringify(found.results));
  assert.match(found.results[0].checks[0].says, /takes too long/);
  assert.match(found.results[1].error, /limit of 1 seconds|cancelled|did not end|no answer/i);
});

test('one evaluation of an agent at a time; it can be stopped, and its agent can go', async () => {
  const agent = await made();
  await addCase(agent, 'held', [{ wait: 'held' }], [{ kind: 'contains', text: 'ok' }]);
  for (const name of ['b', 'c', 'd'])
    await addCase(agent, name, [{ wait: 'held' }], [{ kind: 'contains', text: 'ok' }]);
  const { body: begun } = await start(agent);
  await director.waits('held');
  assert.deepEqual(await start(agent), { status: 409, body: { error: 'An evaluation of this agent is under way' } });
  const { body: stopped } = await ann.ask('POST', `/api/agents/${agent}/evaluations/${begun.id}/stop`);
  assert.equal(stopped.status, 'stopped');
  const found = await over(agent, begun.id);
  assert.deepEqual(states(found), ['skipped', 'skipped', 'skipped', 'skipped']);

  const { body: again } = await start(agent);
  await director.waits('held');
  assert.equal((await ann.ask('DELETE', `/api/agents/${agent}`)).status, 200);
  assert.equal((await ann.ask('GET', `/api/agents/${agent}/evaluations/${again.id}`)).status, 404);
  const left = await services.runtime.db.system
    .selectFrom('evaluation_results')
    .select('id')
    .where('evaluation_id', '=', again.id)
    .execute();
  assert.deepEqual(left, []);
});

test('what is spent is spent: the rest is skipped, and it counts as everything else', async () => {
  const agent = await made();
  for (const name of ['a', 'b', 'c', 'd', 'e'])
    await addCase(agent, name, [{ say: 'fine' }], [{ kind: 'contains', text: 'fine' }]);
  const found = await ran(agent, { maxCostUsd: 0.000001 });
  assert.equal(found.status, 'failed');
  const skipped = found.results.filter(({ status }: Body) => status === 'skipped');
  assert.ok(skipped.length >= 2, JSON.stringify(states(found)));
  assert.match(skipped[0].error, /and that is spent/);
});

test('bad input is a sentence, ten thousand cases are too many, and another’s agent is not found', async () => {
  const agent = await made();
  const cases = `/api/agents/${agent}/evaluation-cases`;
  const whole = { name: 'n', input: 'i', checks: [{ kind: 'contains', text: 't' }] };
  for (const [change, error] of [
    [{ name: ' ' }, 'Name required'],
    [{ input: '' }, 'input required'],
    [{ input: 'x'.repeat(20_001) }, 'input too long (max 20000)'],
    [{ checks: [] }, 'A case has 1 to 20 checks'],
    [{ checks: Array.from({ length: 21 }, () => whole.checks[0]) }, 'A case has 1 to 20 checks'],
    [
      { checks: [{ kind: 'magic' }] },
      'kind must be contains, lacks, regex, schema, called, not_called, cost, time or judge',
    ],
    [{ checks: [{ kind: 'cost', mostUsd: -1 }] }, 'mostUsd must be a number from 0 to 100'],
    [{ maxSeconds: 0 }, 'maxSeconds must be a whole number from 1 to 600'],
  ] as const)
    assert.deepEqual(await ann.ask('POST', cases, { ...whole, ...change }), { status: 400, body: { error } });
  assert.deepEqual((await start(agent)).body, { error: 'This agent has no cases yet' });
  await services.runtime.db.system
    .insertInto('evaluation_cases')
    .values(
      Array.from({ length: 200 }, (_, n) => ({
        id: `${agent}-${n}`,
        user_id: ann.id,
        agent_id: agent,
        name: 'x',
        input: 'x',
        checks: '[{"kind":"contains","text":"ok"}]',
        max_seconds: 10,
        created_at: new Date(),
        updated_at: new Date(),
      })),
    )
    .execute();
  assert.deepEqual(await ann.ask('POST', cases, whole), {
    status: 409,
    body: { error: 'An agent has 200 cases at most' },
  });
  assert.equal((await ann.ask('POST', cases, { ...whole, input: 'x', stubs: [] })).status, 409);
  for (const [method, url, body] of [
    ['GET', cases],
    ['POST', cases, whole],
    ['GET', `/api/agents/${agent}/evaluations`],
    ['POST', `/api/agents/${agent}/evaluations`, {}],
    ['PUT', `/api/agents/${agent}/evaluation-gate`, { enabled: true }],
  ] as const)
    assert.deepEqual(await ben.ask(method, url, body), { status: 404, body: { error: 'Agent not found' } }, url);
});

test('a gated change is taken when its cases have passed with it, and when it is forced', async () => {
  const agent = await made();
  const purpose = `/api/agents/${agent}/purpose`;
  const instruction = async () => (await ann.ask('GET', purpose)).body.instruction;
  await addCase(
    agent,
    'writes',
    [{ tool: 'write_file', args: { path: 'a', content: 'b' } }, { say: 'done' }],
    [
      { kind: 'contains', text: 'done' },
      { kind: 'called', tool: 'write_file' },
    ],
  );
  await addCase(
    agent,
    'is run',
    [{ tool: 'write_file', args: { path: 'a', content: 'b' } }],
    [{ kind: 'lacks', text: 'There is no tool' }],
  );
  await ann.ask('PUT', `/api/agents/${agent}/evaluation-gate`, { enabled: true });
  assert.equal((await ann.ask('GET', `/api/agents/${agent}/evaluations`)).body.isGated, true);

  const untried = await ann.ask('PUT', purpose, { instruction: 'Be brief.' });
  assert.deepEqual([untried.status, untried.body.code], [409, 'CASES_NOT_PASSED'], JSON.stringify(untried.body));
  assert.match(untried.body.error, /have not been tried with this change/);
  assert.equal(await instruction(), '');

  // Passed, but nobody said to take it: the same change is let in now, another is not.
  const tried = await ran(agent, { change: { purpose: { instruction: 'Be brief.' } } });
  assert.deepEqual(
    [tried.status, tried.isProposal, tried.takenAt],
    ['passed', true, null],
    JSON.stringify(tried.results),
  );
  assert.equal(await instruction(), '');
  assert.equal((await ann.ask('PUT', purpose, { instruction: 'Be long.' })).status, 409);
  assert.equal((await ann.ask('PUT', purpose, { instruction: 'Be brief.' })).status, 200);
  assert.equal(await instruction(), 'Be brief.');

  // One that takes the tools away fails; which case, and how, is said.
  const change = { purpose: { tools: ['think'] } };
  const failed = await ran(agent, { change, takes: true });
  assert.deepEqual([failed.status, failed.takenAt, states(failed)], ['failed', null, ['passed', 'failed']]);
  const refused = await ann.ask('PUT', purpose, change.purpose);
  assert.equal(refused.status, 409);
  assert.match(
    refused.body.error,
    /^With this change the case is run is not passed: The answer has “There is no tool”/,
  );
  assert.deepEqual(
    refused.body.failed.map(({ name }: Body) => name),
    ['is run'],
  );
  assert.notDeepEqual((await ann.ask('GET', purpose)).body.tools, ['think']);

  // Taken by itself when all pass; a model of its own configuration too.
  const taken = await ran(agent, { change: { purpose: { instruction: 'Be kind.' } }, takes: true });
  assert.equal(taken.status, 'passed');
  assert.ok(taken.takenAt, JSON.stringify(taken));
  assert.equal(await instruction(), 'Be kind.');

  // A case that changed counts anew.
  const [first] = (await ann.ask('GET', `/api/agents/${agent}/evaluation-cases`)).body.cases;
  const { name, input, checks } = first;
  await ann.ask('PUT', `/api/agents/${agent}/evaluation-cases/${first.id}`, { name, input, checks });
  assert.equal((await ann.ask('PUT', purpose, { instruction: 'Be brief.' })).status, 409);
  assert.equal((await ann.ask('PUT', `${purpose}?force=true`, { instruction: 'Be brief.' })).status, 200);
  assert.equal(await instruction(), 'Be brief.');
  // Its name is no part of what is tried, and what changes nothing needs no trial.
  assert.equal((await ann.ask('PATCH', `/api/agents/${agent}`, { name: 'Other' })).status, 200);
  assert.equal((await ann.ask('PUT', purpose, { instruction: 'Be brief.' })).status, 200);
  await ann.ask('PUT', `/api/agents/${agent}/evaluation-gate`, { enabled: false });
  assert.equal((await ann.ask('PUT', purpose, { instruction: '' })).status, 200);
  assert.deepEqual((await start(agent, { takes: true })).body, { error: 'takes needs a change' });
});

test('a case is made of a real run', async () => {
  const agent = await made();
  const prompt = steps({ tool: 'write_file', args: { path: 'a', content: 'b' } }, { say: 'done' });
  await ann.ask('POST', '/api/chat', { message: prompt, agentId: agent, topic: 'work' });
  const [session] = (await ann.ask('GET', `/api/agents/${agent}/sessions`)).body.sessions;
  const from = (run: number) =>
    ann.ask('POST', `/api/agents/${agent}/evaluation-cases/from-run`, { sessionId: session.id, run });
  const { status, body } = await from(1);
  assert.equal(status, 201, JSON.stringify(body));
  assert.deepEqual([body.input, body.stubs], [prompt, []]);
  assert.deepEqual(body.checks, [
    { kind: 'regex', pattern: '\\S' },
    { kind: 'called', tool: 'write_file' },
  ]);
  assert.deepEqual(await from(2), { status: 404, body: { error: 'Run not found' } });
  assert.deepEqual(states(await ran(agent)), ['passed']);
});
