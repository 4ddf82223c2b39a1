import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createDirector, steps, type Director } from '@troupe/testing/services/director';
import { person, provisioned, type Body, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

/** What an owner allows for good while a call waits: as wide as said, never wider, and taken back any time. */

let services: Services;
let director: Director;
let ann: Person;
let ben: Person;
let agentId: string;
before(async () => {
  director = await createDirector();
  services = await startServices({ OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: director.provider.url });
  ann = await person(services, { plan: 'label' });
  ben = await person(services, { plan: 'label' });
  agentId = await provisioned(ann);
  const config = { safety: { approvals: { filesystem: 'ask' } } };
  assert.equal((await ann.ask('PUT', `/api/agents/${agentId}/config`, config)).status, 200);
});
after(async () => {
  await services.stop();
  await director.provider.close();
});

const write = (path: string) => steps({ tool: 'write_file', args: { path, content: 'x' } });
const decide = (id: string, body: object, who = ann) => who.ask('POST', `/api/agents/${agentId}/approvals/${id}`, body);

/** How the run stands: what it waits for, or its steps when it is over. */
async function run(message: string): Promise<{ waits?: Body; events: Body[] }> {
  const { body } = await ann.ask('POST', `/api/agents/${agentId}/messages`, { message, topic: message.slice(0, 150) });
  return follow(body.sessionId);
}

async function follow(sessionId: string): Promise<{ waits?: Body; events: Body[] }> {
  for (;;) {
    const { session, events } = (await ann.ask('GET', `/api/agents/${agentId}/sessions/${sessionId}`)).body;
    if (session.status === 'idle') return { events };
    if (session.status === 'waiting') {
      const { items } = (await ann.ask('GET', '/api/inbox')).body;
      const waits = items.find((one: Body) => one.sessionId === sessionId);
      if (waits) return { waits, events };
    }
    await delay(30);
  }
}

test('a folder that is allowed for good is not asked about again, and everything else is', async () => {
  const { waits } = await run(write('reports/may.md'));
  assert.equal((await decide(waits!.id, { approved: true, always: { within: 'reports/**' } })).status, 200);
  const { events } = await follow(waits!.sessionId);
  assert.equal(events.find(({ type }) => type === 'tool_result')?.isError, false);
  assert.equal((await run(write('reports/2026/june.md'))).waits, undefined);
  for (const path of ['plan.md', 'reports/../plan.md', 'reports-2/a.md']) {
    const asked = await run(write(path));
    assert.ok(asked.waits, path);
    await decide(asked.waits.id, { approved: false });
    await follow(asked.waits.sessionId);
  }
  const { config } = (await ann.ask('GET', `/api/agents/${agentId}/config`)).body;
  const [{ since, ...rule }, ...others] = config.safety.standing;
  assert.ok(Date.parse(since) <= Date.now());
  assert.deepEqual([rule, others], [{ tool: 'write_file', within: 'reports/**', from: waits!.sessionId }, []]);
});

test('before a rule is made, it is said what it would have allowed of what was asked', async () => {
  const { waits } = await run(write('drafts/august.md'));
  const path = `/api/agents/${agentId}/approvals/${waits!.id}/rules`;
  const { asked, rules } = (await ann.ask('GET', path)).body;
  // Asked so far: reports/may.md, the three that were refused, and this one.
  assert.deepEqual(
    [asked, rules],
    [
      5,
      [
        { within: 'drafts/august.md', allows: 1 },
        { within: 'drafts/**', allows: 1 },
        { within: null, allows: 5 },
      ],
    ],
  );
  assert.equal((await ben.ask('GET', path)).status, 404);
  const gone = await ann.ask('GET', `/api/agents/${agentId}/approvals/nothing/rules`);
  assert.deepEqual(gone, { status: 404, body: { error: 'Approval not found' } });
  await decide(waits!.id, { approved: false });
  await follow(waits!.sessionId);
});

test('a rule is made of the call that waits, by its owner alone, and nothing is decided where it is refused', async () => {
  const { waits } = await run(write('plan.md'));
  for (const within of ['**', 'other.md', '../**', 'reports/**'])
    assert.deepEqual(await decide(waits!.id, { approved: true, always: { within } }), {
      status: 400,
      body: { error: 'A rule must hold for the call that waits' },
    });
  assert.equal((await decide(waits!.id, { approved: true, always: { within: '' } })).status, 400);
  assert.equal((await decide(waits!.id, { approved: true, always: { within: null } }, ben)).status, 404);
  assert.equal((await decide('nothing', { approved: true, always: { within: null } })).status, 404);
  assert.equal((await ann.ask('GET', '/api/inbox')).body.items.length, 1);
  // A refusal makes no rule.
  assert.equal((await decide(waits!.id, { approved: false, always: { within: 'plan.md' } })).status, 200);
  const { config } = (await ann.ask('GET', `/api/agents/${agentId}/config`)).body;
  assert.equal(config.safety.standing.length, 1);
});

test('a refusal with a word is read by the agent', async () => {
  const { waits } = await run(write('plan.md'));
  await decide(waits!.id, { approved: false, answer: 'Write it to drafts/ instead.' });
  const { events } = await follow(waits!.sessionId);
  const result = events.findLast(({ type }) => type === 'tool_result');
  assert.equal(result?.content, 'The owner refused this call of write_file. They say: Write it to drafts/ instead.');
});

test('a rule that is taken away is asked about again', async () => {
  const change = await ann.ask('PUT', `/api/agents/${agentId}/config`, { safety: { standing: [] } });
  assert.equal(change.status, 200, JSON.stringify(change.body));
  const { waits } = await run(write('reports/july.md'));
  assert.equal(waits?.tool, 'write_file');
  await decide(waits!.id, { approved: false });
});

test('of rules that are made at the same moment none is lost, and the same one is there once', async () => {
  const paths = ['a/1.md', 'b/2.md', 'c/3.md', 'd/4.md', 'a/1.md'];
  const waiting: Body[] = [];
  for (const [index, path] of paths.entries()) {
    const call = { tool: 'write_file', args: { path, content: 'x' } };
    const { waits } = await run(steps(call, { say: `done ${index}` }));
    assert.ok(waits, path);
    waiting.push(waits);
  }
  const decided = await Promise.all(
    waiting.map(({ id }, index) => decide(id, { approved: true, always: { within: paths[index] } })),
  );
  assert.deepEqual(
    decided.map(({ status }) => status),
    paths.map(() => 200),
  );
  const { config } = (await ann.ask('GET', `/api/agents/${agentId}/config`)).body;
  assert.deepEqual(config.safety.standing.map(({ within }: Body) => within).sort(), [...new Set(paths)].sort());
});
