import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { person, provisioned, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

let services: Services;
let ann: Person;
let ben: Person;
let id: string;
before(async () => {
  services = await startServices();
  ann = await person(services, { plan: 'label' });
  ben = await person(services, { plan: 'label' });
  id = await provisioned(ann);
});
after(() => services.stop());

/** In hands that will not do anything. */
async function given(taskId: string): Promise<string> {
  const { system } = services.runtime.db;
  const of = { agent_id: id, user_id: ann.id };
  const sessionId = `session-of-${taskId}`;
  await system
    .insertInto('agent_sessions')
    .values({ ...of, id: sessionId, channel: 'web', key: taskId })
    .execute();
  await system
    .insertInto('agent_background')
    .values({
      ...of,
      id: taskId,
      session_id: sessionId,
      run_seq: 1,
      member_id: 'gone',
      member: 'qa',
      task: 'look',
      limits: JSON.stringify({ maxTurns: 1, maxTokens: 1, maxCostMicros: 1, maxSeconds: 1 }),
      depth: 1,
      lease_owner: 'x',
      lease_until: new Date(Date.now() + 600_000),
    })
    .execute();
  return sessionId;
}

test('tasks are listed, shown and stopped, once; the agent is told', async () => {
  const sessionId = await given('one');
  const at = `/api/agents/${id}/background`;
  const { tasks, hasMore } = (await ann.ask('GET', `${at}?session=${sessionId}`)).body;
  assert.deepEqual([tasks.length, tasks[0].id, tasks[0].status, hasMore], [1, 'one', 'running', false]);
  assert.deepEqual((await ann.ask('GET', `${at}?session=another`)).body.tasks, []);
  assert.equal((await ann.ask('GET', `${at}/one`)).body.task.task, 'look');
  assert.deepEqual((await ann.ask('POST', `${at}/one/stop`)).body, { success: true, stopped: true });
  assert.deepEqual((await ann.ask('POST', `${at}/one/stop`)).body, { success: true, stopped: false });
  assert.equal((await ann.ask('GET', `${at}/one`)).body.task.status, 'stopped');
  const { events } = (await ann.ask('GET', `/api/agents/${id}/sessions/${sessionId}`)).body;
  const told = events.filter(({ background }: { background?: { id: string } }) => background?.id === 'one');
  assert.equal(told.length, 1);
  for (const wrong of ['none', '%2e%2e', 'a%00', '💥'])
    assert.ok([400, 404].includes((await ann.ask('GET', `${at}/${encodeURI(wrong)}`)).status), wrong);
});

test('another user finds nothing and stops nothing', async () => {
  await given('two');
  const own = await provisioned(ben);
  for (const [method, path] of [
    ['GET', `/api/agents/${id}/background`],
    ['GET', `/api/agents/${id}/background/two`],
    ['POST', `/api/agents/${id}/background/two/stop`],
    // by an agent of one's own
    ['GET', `/api/agents/${own}/background/two`],
    ['POST', `/api/agents/${own}/background/two/stop`],
  ] as const)
    assert.equal((await ben.ask(method, path)).status, 404, `${method} ${path}`);
  assert.equal((await ann.ask('GET', `/api/agents/${id}/background/two`)).body.task.status, 'running');
});
