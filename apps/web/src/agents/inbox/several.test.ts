import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createDirector, steps, type Director } from '@troupe/testing/services/director';
import { person, type Body, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

/** Several things of one inbox at once: what is alike is allowed together, and each tells what became of it. */

let services: Services;
let director: Director;
let ann: Person;
let ben: Person;
let agentId: string;
before(async () => {
  director = await createDirector();
  services = await startServices({ OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: director.provider.url });
  [ann, ben] = [await person(services, { plan: 'network' }), await person(services, { plan: 'network' })];
  const yaml = `agents:
  root:
    instruction: Work.
    toolsets:
      - type: user_prompt
      - type: filesystem
permissions:
  ask: [write_file, create_directory]
`;
  const made = await ann.ask('POST', '/api/provision/team', { plan: 'network', yaml_config: yaml });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  agentId = made.body.agents[0].agentId;
});
after(async () => {
  await services.stop();
  await director.provider.close();
});

const items = async (who = ann): Promise<Body[]> => (await who.ask('GET', '/api/inbox')).body.items;
const decide = (body: object, who = ann) => who.ask('POST', '/api/inbox/decisions', body);
const named = (all: Body[]) => all.map(({ id }) => ({ id, agentId, words: `Allowed. ${id}` }));

/** Has the agent ask for each of them in a conversation of its own, until all wait. */
async function waiting(calls: { tool: string; args: object }[]): Promise<Body[]> {
  for (const [index, call] of calls.entries()) {
    const body = { message: steps(call, { say: `done ${index}` }), topic: `${Date.now()}-${index}` };
    assert.equal((await ann.ask('POST', `/api/agents/${agentId}/messages`, body)).status, 202);
  }
  for (;;) {
    const found = await items();
    if (found.length === calls.length) return found;
    await delay(30);
  }
}

const file = (path: string) => ({ tool: 'write_file', args: { path, content: 'x' } });
const question = (message: string) => ({ tool: 'user_prompt', args: { message } });

test('calls of one tool are allowed together, and noted; who decides twice is told so for each', async () => {
  const found = await waiting([file('a.md'), file('b.md'), file('c.md')]);
  const [{ id: other }] = named(found) as [Body];
  assert.deepEqual((await decide({ items: named(found), approved: true }, ben)).body.decided[0], {
    id: other,
    error: 'It does not wait any more',
  });
  assert.equal((await items()).length, 3, 'nobody decides what is somebody else’s');
  const { status, body } = await decide({ items: named(found), approved: true });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(
    body.decided.map(({ error }: Body) => error),
    [null, null, null],
  );
  assert.deepEqual(await items(), []);
  const { marks } = (await ann.ask('GET', '/api/inbox')).body;
  assert.deepEqual([marks.length, marks[0].state], [3, 'decided']);
  const names = async () =>
    (await ann.ask('GET', `/api/agents/${agentId}/files`)).body.entries.map(({ name }: Body) => name);
  while ((await names()).length < 3) await delay(30);
  const again = (await decide({ items: named(found), approved: true })).body.decided;
  assert.deepEqual(new Set(again.map(({ error }: Body) => error)), new Set(['It does not wait any more']));
});

test('what is unlike is refused together, and not allowed', async () => {
  const found = await waiting([file('d.md'), { tool: 'create_directory', args: { path: 'd' } }, question('Which?')]);
  const both = found.filter(({ question: asks }) => !asks);
  assert.deepEqual(await decide({ items: named(both), approved: true }), {
    status: 409,
    body: { error: 'Only calls of one tool can be allowed together' },
  });
  assert.deepEqual(await decide({ items: named(found), approved: true, answer: 'x' }), {
    status: 409,
    body: { error: 'Questions and calls of tools cannot be answered together' },
  });
  assert.equal((await items()).length, 3);
  assert.equal((await decide({ items: named(found), approved: false })).status, 200);
  assert.deepEqual(await items(), []);
});

test('several questions get one answer', async () => {
  const found = await waiting([question('Go on?'), question('Stay?')]);
  assert.equal((await decide({ items: named(found), approved: true, answer: 'Yes, do' })).status, 200);
  for (const { sessionId } of found) {
    const read = async (): Promise<Body[]> =>
      (await ann.ask('GET', `/api/agents/${agentId}/sessions/${sessionId}`)).body.events;
    while (!(await read()).some(({ answer }) => answer === 'Yes, do')) await delay(30);
  }
});

test('several are put off or done with together, or none; how many is bounded', async () => {
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const put = (body: object) => ann.ask('PUT', '/api/inbox/marks', body);
  const some = [{ item: 'one', words: 'One' }, { item: 'two' }];
  const { status, body } = await put({ items: some, state: 'later', until });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(
    body.marks.map(({ item, state, words }: Body) => [item, state, words]),
    [
      ['one', 'later', 'One'],
      ['two', 'later', ''],
    ],
  );
  assert.equal(body.marks[0].markedAt, body.marks[1].markedAt);
  const many = { status: 400, body: { error: 'Name 1 to 50 items, each once' } };
  const all = Array.from({ length: 51 }, (_, n) => ({ item: `n${n}` }));
  for (const wrong of [[], all, [{ item: 'x' }, { item: 'x' }]])
    assert.deepEqual(await put({ items: wrong, state: 'done' }), many);
  const ids = all.map(({ item: id }) => ({ id, agentId }));
  for (const wrong of [[], ids, [ids[0], ids[0]]])
    assert.deepEqual(await decide({ items: wrong, approved: true }), many);
  assert.equal((await put({ items: some, state: 'decided' })).body.error, 'state must be later or done');
  assert.equal((await put({ items: some, state: 'later' })).status, 400);
});

test('allowed and refused by many at once: one of them decides, and the call runs once or never', async () => {
  const found = await waiting(Array.from({ length: 6 }, (_, index) => file(`race-${index}.md`)));
  const verdicts = await Promise.all(
    found.map(async ({ id }) => {
      const ways = Array.from({ length: 10 }, (_, index) => index % 2 === 0);
      const answers = await Promise.all(
        ways.map(async (approved) => ({
          approved,
          ...(await ann.ask('POST', `/api/agents/${agentId}/approvals/${id}`, { approved })),
        })),
      );
      const [won, ...others] = answers.filter(({ status }) => status < 300);
      assert.equal(others.length, 0, JSON.stringify(answers));
      assert.ok(
        answers.every(({ status }) => status < 300 || status === 404 || status === 409),
        JSON.stringify(answers),
      );
      return won!.approved;
    }),
  );
  const sessions = found.map(({ sessionId }) => String(sessionId));
  const events = (type: string) =>
    services.runtime.db.system
      .selectFrom('agent_events')
      .select('data')
      .where('session_id', 'in', sessions)
      .where('type', '=', type)
      .execute();
  while ((await events('run_ended')).length < sessions.length) await delay(30);
  const decided = (await events('approval_decided')).map(({ data }) => data as Body);
  assert.equal(decided.length, verdicts.length);
  assert.equal(
    decided.filter(({ approved }) => approved).length,
    verdicts.filter(Boolean).length,
    'each was decided once, as it was answered',
  );
  assert.equal((await events('tool_result')).length, sessions.length);
  const { entries } = (await ann.ask('GET', `/api/agents/${agentId}/files`)).body;
  const written = entries.filter(({ name }: Body) => String(name).startsWith('race-'));
  assert.equal(written.length, verdicts.filter(Boolean).length);
});
