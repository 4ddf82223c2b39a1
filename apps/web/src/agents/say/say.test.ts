import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { TEAM_TOOLS } from '@troupe/domain';
import { createDirector, steps, type Director } from '@troupe/testing/services/director';
import { person, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';
import { readAnswer } from './model.ts';

const SENTENCE = 'each morning read example.com and tell me on Telegram what is new';

const things = async (who: Person) => ({
  agents: (await who.ask('GET', '/api/agents')).body.count as number,
  tasks: (await who.ask('GET', '/api/scheduled-tasks')).body.count as number,
  caps: (await who.ask('GET', '/api/usage/caps')).body.caps.length as number,
});
const NOTHING = { agents: 0, tasks: 0, caps: 0 };

describe('without a model', () => {
  let services: Services;
  let ann: Person;
  before(async () => {
    services = await startServices();
    ann = await person(services, { plan: 'label' });
  });
  after(() => services.stop());

  test('rules read it and say so; nothing is made before somebody agrees', async () => {
    const { status, body } = await ann.ask('POST', '/api/say', { sentence: SENTENCE, timezone: 'Europe/Berlin' });
    assert.equal(status, 200, JSON.stringify(body));
    const { plan, by, isSandbox, cost } = body;
    assert.deepEqual([by, isSandbox, plan.tells, plan.tools], ['rules', true, 'telegram', ['fetch', 'memory']]);
    assert.deepEqual([plan.task.cronSchedule, plan.task.timezone, plan.capUsd], ['0 8 * * *', 'Europe/Berlin', 1]);
    assert.deepEqual([cost.runs, cost.from, cost.past], [30, 0, []]);
    assert.ok(cost.perRunUsd.low > 0 && cost.perMonthUsd.high > cost.perMonthUsd.low);
    assert.deepEqual(await things(ann), NOTHING);

    const made = await ann.ask('POST', '/api/say/make', plan);
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.deepEqual(await things(ann), { agents: 1, tasks: 1, caps: 1 });
    const [task] = (await ann.ask('GET', '/api/scheduled-tasks')).body.tasks;
    assert.deepEqual([task.id, task.agentId, task.tells], [made.body.taskId, made.body.agentId, 'telegram']);
    const purpose = (await ann.ask('GET', `/api/agents/${made.body.agentId}/purpose`)).body;
    assert.deepEqual([purpose.instruction, purpose.tools], [plan.instruction, plan.tools]);
    const [cap] = (await ann.ask('GET', '/api/usage/caps')).body.caps;
    assert.deepEqual([cap.agentId, cap.limitUsd, cap.period], [made.body.agentId, 1, 'month']);

    // Said again, it is another agent with a name of its own.
    const again = (await ann.ask('POST', '/api/say', { sentence: SENTENCE })).body.plan;
    assert.equal(again.name, `${plan.name} 2`);
    const bob = await person(services, { plan: 'label' });
    assert.equal((await bob.ask('POST', '/api/say', { sentence: SENTENCE })).body.plan.name, plan.name);
  });

  test('a plan that cannot be made whole leaves nothing', async () => {
    const ben = await person(services, { plan: 'label' });
    const { plan } = (await ben.ask('POST', '/api/say', { sentence: SENTENCE })).body;
    for (const [change, error] of [
      [{ tools: ['rootkit'] }, `Unknown tool rootkit. Known are: ${TEAM_TOOLS.join(', ')}`],
      [{ task: { ...plan.task, cronSchedule: 'soon' } }, 'Invalid cron schedule'],
      [{ task: { ...plan.task, timezone: 'Mars' } }, 'Invalid timezone'],
      [{ capUsd: -1 }, 'capUsd must be a number from 0 to 1000000, or null'],
      [{ name: '' }, 'Agent name is required'],
    ] as const)
      assert.deepEqual(await ben.ask('POST', '/api/say/make', { ...plan, ...change }), {
        status: 400,
        body: { error },
      });
    const unknown = await ben.ask('POST', '/api/say/make', { ...plan, model: 'nobody/has-this' });
    assert.equal(unknown.status, 400);
    assert.match(unknown.body.error, /^There is no model nobody\/has-this\./);
    // Everything is right but that there are as many tasks as the plan has.
    const other = (await ben.ask('POST', '/api/say/make', { ...plan, task: null, capUsd: null })).body.agentId;
    await services.runtime.db.system
      .insertInto('scheduled_tasks')
      .values(
        Array.from({ length: 1000 }, (_, n) => ({
          id: `${ben.id}-${n}`,
          user_id: ben.id,
          agent_id: other,
          name: 'x',
          cron_schedule: '0 8 * * *',
          prompt: 'x',
          created_at: new Date(),
          updated_at: new Date(),
        })),
      )
      .execute();
    const full = await ben.ask('POST', '/api/say/make', plan);
    assert.equal(full.status, 429, JSON.stringify(full.body));
    assert.equal((await ben.ask('GET', '/api/agents')).body.count, 1);
  });

  test('bad words get a sentence, and who has no plan is told so', async () => {
    for (const [body, error] of [
      [{}, 'Say in a sentence what should be done'],
      [{ sentence: ' ' }, 'Say in a sentence what should be done'],
      [{ sentence: 'x'.repeat(2001) }, 'Sentence too long (max 2000)'],
      [{ sentence: 'x', timezone: 'Mars' }, 'Invalid timezone'],
    ] as const)
      assert.deepEqual(await ann.ask('POST', '/api/say', body), { status: 400, body: { error } });
    const guest = await person(services, { subscriptionStatus: 'cancelled' });
    assert.equal((await guest.ask('POST', '/api/say', { sentence: SENTENCE })).status, 403);
  });
});

describe('with a model', () => {
  let services: Services;
  let director: Director;
  let ann: Person;
  before(async () => {
    director = await createDirector();
    services = await startServices({ OPENROUTER_API_KEY: 'k', OPENROUTER_BASE_URL: director.provider.url });
    ann = await person(services, { plan: 'label' });
  });
  after(async () => {
    await services.stop();
    await director.provider.close();
  });

  const answer = {
    name: 'Reader',
    instruction: 'Read and report.',
    tools: ['fetch'],
    prompt: 'Read example.com.',
    cron: '30 7 * * 1-5',
    pages: 1,
  };
  const say = (said: string) => ann.ask('POST', '/api/say', { sentence: steps({ say: said }) });

  test('the model writes the plan, in the same shape, and nothing is made by it', async () => {
    const { status, body } = await say(`Here you are:\n\`\`\`json\n${JSON.stringify(answer)}\n\`\`\``);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([body.by, body.isSandbox], ['model', false]);
    assert.deepEqual([body.plan.name, body.plan.task.cronSchedule], ['Reader', '30 7 * * 1-5']);
    assert.ok(body.plan.capUsd >= 1);
    assert.deepEqual(await things(ann), NOTHING);
    assert.equal((await ann.ask('POST', '/api/say/make', body.plan)).status, 201);
  });

  test('an answer that is no plan is a sentence, and rules can read it instead', async () => {
    for (const bad of ['I made it for you.', '{"name": 1}', JSON.stringify({ ...answer, tools: ['rootkit'] })]) {
      const { status, body } = await say(bad);
      assert.deepEqual([status, body.code], [502, 'NO_PLAN'], bad);
      assert.match(body.error, /no plan that can be used/);
    }
    const { body } = await ann.ask('POST', '/api/say', { sentence: SENTENCE, by: 'rules' });
    assert.deepEqual([body.by, body.isSandbox], ['rules', false]);
  });

  const plan = { name: 'Reader', model: 'xiaomi/mimo-v2-pro', instruction: 'Read.', tools: ['filesystem', 'memory'] };
  const asking = (...list: Parameters<typeof steps>) => ({
    ...plan,
    task: { name: 'x', prompt: steps(...list), cronSchedule: '0 8 * * *', timezone: 'UTC' },
    tells: 'telegram',
    capUsd: 1,
  });

  test('it can be tried before it is made: what it did is told, what it cost is its owner’s, and nothing else stays', async () => {
    const cat = await person(services, { plan: 'solo' });
    const before = director.calls.length;
    const { status, body } = await cat.ask(
      'POST',
      '/api/say/try',
      asking({ tool: 'write_file', args: { path: 'a.md', content: 'x' } }, { say: 'Nothing is new.' }),
    );
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([body.answer, body.reason, body.calls.length], ['Nothing is new.', null, 1]);
    assert.deepEqual([body.calls[0].tool, body.calls[0].isRun, body.calls[0].isError], ['write_file', true, false]);
    assert.equal(director.calls.length, before + 2);
    assert.ok(body.costUsd > 0 && body.tokens > 0);
    assert.deepEqual(await things(cat), NOTHING);
    // What was spent is written a moment later.
    const costs = async () => (await cat.ask('GET', '/api/dashboard/cost')).body;
    while ((await costs()).summary.totalCalls < 2) await delay(50);
    assert.equal((await costs()).summary.totalCost, body.costUsd);
    // A plan of one agent has room for it still.
    assert.equal((await cat.ask('POST', '/api/say/make', { ...asking(), task: null })).status, 201);
  });

  test('one trial at a time: the second waits for its turn, who leaves ends it, and there must be something to ask', async () => {
    const dan = await person(services, { plan: 'solo' });
    const leaving = new AbortController();
    const first = fetch(`${services.web}/api/say/try`, {
      method: 'POST',
      headers: { ...dan.headers(), 'content-type': 'application/json' },
      body: JSON.stringify(asking({ wait: 'dan' })),
      signal: leaving.signal,
    }).catch((error: Error) => error.name);
    await director.waits('dan');
    const second = dan.ask('POST', '/api/say/try', asking({ say: 'second' }));
    leaving.abort();
    assert.equal(await first, 'AbortError');
    assert.equal((await second).body.answer, 'second');
    assert.deepEqual(await dan.ask('POST', '/api/say/try', { ...asking(), instruction: ' ', task: null }), {
      status: 400,
      body: { error: 'There is nothing to ask it: say what it does' },
    });
    const unknown = await dan.ask('POST', '/api/say/try', { ...asking({ say: 'x' }), model: 'nobody/has-this' });
    assert.equal(unknown.status, 400);
    const guest = await person(services, { subscriptionStatus: 'cancelled' });
    assert.equal((await guest.ask('POST', '/api/say/try', asking({ say: 'x' }))).status, 403);
  });
});

test('what a model may answer is bounded', () => {
  const good = { name: 'A', instruction: 'x', tools: ['shell', 'shell'], prompt: 'x', cron: null };
  const now = new Date();
  assert.deepEqual(readAnswer(JSON.stringify(good), now)?.tools, ['shell']);
  assert.match(readAnswer(JSON.stringify(good), now)!.notes.join(), /commands/);
  for (const change of [{ cron: '99 * * * *' }, { name: 'a\nb' }, { pages: 1e9 }, { tells: 'fax' }, { prompt: '' }])
    assert.equal(readAnswer(JSON.stringify({ ...good, ...change }), now), undefined, JSON.stringify(change));
});
