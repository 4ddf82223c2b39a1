import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventsOf, type StageActor } from '@troupe/contract';
import { startWeb, type Person, type TestWeb } from '@troupe/testing/services/web';

let web: TestWeb;
let ann: Person;
before(async () => {
  web = await startWeb();
  ann = await web.signUp();
  const { system } = web.deps.db;
  const now = new Date();
  const of = { user_id: ann.id };
  await system
    .insertInto('teams')
    .values({ ...of, id: 't', name: 'Press', yaml: 'x', created_at: now })
    .execute();
  await system
    .insertInto('agents')
    .values([
      { ...of, id: 'lead', name: 'Lead', status: 'running', team_id: 't' },
      { ...of, id: 'member', name: 'Member', status: 'running', team_id: 't' },
      { ...of, id: 'idle', name: 'Idle', status: 'running' },
      { ...of, id: 'off', name: 'Off', status: 'stopped' },
      { ...of, id: 'bad', name: 'Bad', status: 'failed' },
    ])
    .execute();
  await system
    .insertInto('scheduled_tasks')
    .values({
      ...of,
      id: 'task',
      agent_id: 'lead',
      name: 'Morning',
      cron_schedule: '* * * * *',
      prompt: 'x',
      created_at: now,
      updated_at: now,
    })
    .execute();
  const session = { ...of, created_at: now };
  await system
    .insertInto('agent_sessions')
    .values([
      { ...session, id: 's1', agent_id: 'lead', channel: 'task', key: 'task:1', status: 'waiting' },
      { ...session, id: 's2', agent_id: 'member', channel: 'team', key: 's1:call', status: 'open' },
      { ...session, id: 's3', agent_id: 'idle', channel: 'api', key: 'x', status: 'idle' },
    ])
    .execute();
});
after(() => web.stop());

const stage = async (person = ann): Promise<StageActor[]> => (await person.ask('GET', '/api/stage')).body.agents;

test('it says of each agent what it does, for whom, and what waits', async () => {
  assert.deepEqual(
    (await stage()).map(({ id, state, about, handedBy, teamName }) => [id, state, about, handedBy, teamName]),
    [
      ['lead', 'waits', 'Morning', null, 'Press'],
      ['member', 'working', null, 'Lead', 'Press'],
      ['bad', 'trouble', null, null, null],
      ['idle', 'ready', null, null, null],
      ['off', 'off', null, null, null],
    ],
  );
  assert.deepEqual(await stage(await web.signUp()), []);
});

test('of those in front it says what they said last and what they do next', async () => {
  const { system } = web.deps.db;
  const said = (seq: number, data: object) => ({
    user_id: ann.id,
    agent_id: 'idle',
    session_id: 's3',
    seq,
    data: JSON.stringify(data),
  });
  await system
    .insertInto('agent_events')
    .values([
      said(1, { type: 'assistant', content: 'Older' }),
      said(2, { type: 'assistant', content: `**News:** ${'Berlin moved. '.repeat(2)}` }),
      said(3, { type: 'user', content: 'And then?' }),
    ])
    .execute();
  const next = new Date(Date.now() + 3_600_000);
  await system.updateTable('scheduled_tasks').set({ next_run: next }).where('id', '=', 'task').execute();
  await system
    .updateTable('agents')
    .set({ tags: ['press'] })
    .where('id', '=', 'idle')
    .execute();
  const actors = Object.fromEntries((await stage()).map((one) => [one.id, one]));
  assert.equal(actors['idle']!.said?.text, 'News: Berlin moved. Berlin moved.');
  assert.deepEqual([actors['idle']!.next, actors['idle']!.tags, actors['lead']!.said], [null, ['press'], null]);
  assert.deepEqual(actors['lead']!.next, { name: 'Morning', at: next.toISOString() });
  // Somebody else's are not read for it.
  assert.deepEqual(await stage(await web.signUp()), []);
});

test('whoever looks hears when one begins to work', async () => {
  const gone = new AbortController();
  const headers = { cookie: `svc-session=${ann.token()}` };
  const events = eventsOf(await fetch(`${web.address}/api/live`, { headers, signal: gone.signal }));
  assert.equal((await events.next()).value?.event, 'ready');
  await web.deps.db.system.updateTable('agent_sessions').set({ status: 'open' }).where('id', '=', 's3').execute();
  for await (const { event, data } of events) if (event === 'changed' && data.includes('work')) break;
  gone.abort();
  assert.equal((await stage()).find(({ id }) => id === 'idle')?.state, 'working');
});
