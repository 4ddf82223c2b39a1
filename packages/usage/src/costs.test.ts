import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { testDatabase, testUser, type TestDatabase } from '@troupe/testing/database/server';
import { modelCall } from '@troupe/testing/money/model-call';
import { silentLog } from '@troupe/kernel';
import { createCosts, createWriter, type AiEvent } from './index.ts';
import { forecastOf } from './forecast.ts';

let test: TestDatabase;
let now = new Date('2026-03-15T12:00:00Z');
const clock = () => now;
const ann = { userId: 'ann' };
const march = { from: '2026-03-01', to: '2026-03-31' };
const page = { limit: 50, offset: 0 };

const event = (given: Partial<AiEvent> = {}): AiEvent => modelCall({ costMicros: 1_000_000, ...given });

const session = (id: string, agent_id: string, user_id: string, channel: string, key: string) =>
  test.db.system.insertInto('agent_sessions').values({ id, agent_id, user_id, channel, key }).execute();

before(async () => {
  test = await testDatabase();
  const { system } = test.db;
  for (const id of ['ann', 'bob']) await testUser(test.db, id);
  await system
    .insertInto('teams')
    .values({ id: 't1', user_id: 'ann', name: 'Press', yaml: 'x', created_at: now })
    .execute();
  const agents = [
    { id: 'a1', user_id: 'ann', name: '=cmd"x', team_id: 't1' },
    { id: 'a2', user_id: 'ann', name: 'Desk' },
    { id: 'b1', user_id: 'bob', name: 'Other' },
  ];
  for (const agent of agents) await system.insertInto('agents').values(agent).execute();
  const task = { agent_id: 'a1', cron_schedule: '* * * * *', prompt: 'x', created_at: now, updated_at: now };
  await system
    .insertInto('scheduled_tasks')
    .values([
      { ...task, id: 'task-1', user_id: 'ann', name: 'Morning' },
      { ...task, id: 'task-2', user_id: 'bob', name: 'Of Bob' },
    ])
    .execute();
  await session('s1', 'a1', 'ann', 'task', 'task-1:run-1');
  // The lead of the task hands work to a member.
  await session('s2', 'a2', 'ann', 'team', 's1:call-1');
  await session('s3', 'b1', 'bob', 'task', 'task-2:run-1');
  const writer = createWriter({ db: test.db, log: silentLog, clock });
  writer.record(event({ runId: 's1:1' }));
  writer.record(event({ runId: 's2:1', agentId: 'a2', costMicros: 500_000 }));
  writer.record(event({ keyId: 'k1', agentId: '', model: 'other', costMicros: 250_000 }));
  // Whoever calls by key may name any run: another's task does not get it.
  writer.record(event({ runId: 's3:1', keyId: 'k1', agentId: '', costMicros: 250_000 }));
  writer.record(event({ userId: 'bob', agentId: 'b1', runId: 's3:1', costMicros: 3_000_000 }));
  await writer.flush();
  now = new Date('2026-03-16T12:00:00Z');
  writer.record(event({ agentId: 'gone', costMicros: 100_000 }));
  await writer.close();
});
after(() => test.drop());

describe('costs', () => {
  const costs = () => createCosts({ db: test.db, clock });
  const rowsBy = async (by: 'agent' | 'team' | 'task' | 'key' | 'model') => {
    const { rows } = await costs().breakdown(ann, { by, ...march, ...page });
    return rows.map(({ id, name, costUsd }) => [id, name, costUsd]);
  };

  it('are told by agent, team and model, the dearest first', async () => {
    assert.deepEqual(await rowsBy('agent'), [
      ['a1', '=cmd"x', 1],
      ['', null, 0.5],
      ['a2', 'Desk', 0.5],
      ['gone', null, 0.1],
    ]);
    assert.deepEqual(await rowsBy('team'), [
      ['', null, 1.1],
      ['t1', 'Press', 1],
    ]);
    assert.deepEqual(await rowsBy('model'), [
      ['openai/gpt-4o', 'openai/gpt-4o', 1.85],
      ['other', 'other', 0.25],
    ]);
  });

  it('belong to the task of the run, also what members of its team did, and to the key that was shown', async () => {
    assert.deepEqual(await rowsBy('task'), [
      ['task-1', 'Morning', 1.5],
      ['', null, 0.6],
    ]);
    assert.deepEqual(await rowsBy('key'), [
      ['', null, 1.6],
      ['k1', null, 0.5],
    ]);
  });

  it('come in pages, with all days and those of the chosen one', async () => {
    const { rows, count, total, days } = await costs().breakdown(ann, {
      by: 'task',
      from: '2026-03-14',
      to: '2026-03-16',
      id: 'task-1',
      limit: 1,
      offset: 1,
    });
    assert.deepEqual([rows.map(({ id }) => id), count, total.calls, total.costUsd], [[''], 2, 5, 2.1]);
    assert.deepEqual(
      days.map(({ date, costUsd, chosenUsd }) => [date, costUsd, chosenUsd]),
      [
        ['2026-03-14', 0, 0],
        ['2026-03-15', 2, 1.5],
        ['2026-03-16', 0.1, 0],
      ],
    );
  });

  it('of everybody are by user, too, and say whose a thing is', async () => {
    const { rows, total } = await costs().breakdown('everybody', { by: 'user', ...march, ...page });
    assert.deepEqual(
      [rows.map(({ id, costUsd }) => [id, costUsd]), total.costUsd],
      [
        [
          ['bob', 3],
          ['ann', 2.1],
        ],
        5.1,
      ],
    );
    const tasks = await costs().breakdown('everybody', { by: 'task', ...march, ...page });
    assert.deepEqual(tasks.rows.find(({ id }) => id === 'task-2')?.owner?.includes('bob'), true);
  });

  it('are written as CSV that no spreadsheet takes for a formula', async () => {
    const lines = (await costs().csv(ann, { by: 'agent', ...march })).join('\r\n').split('\r\n');
    assert.deepEqual(lines, [
      `2026-03-15,"a1","'=cmd""x",1,100,20,1.000000`,
      '2026-03-15,"","",2,200,40,0.500000',
      '2026-03-15,"a2","Desk",1,100,20,0.500000',
      '2026-03-16,"gone","",1,100,20,0.100000',
    ]);
  });

  it('are none where another character separates cells, either', async () => {
    const named = (name: string) => test.db.system.updateTable('agents').set({ name }).where('id', '=', 'a2').execute();
    await named('Desk; =HYPERLINK("x");+1\n@x|-2\t＝3; a = b');
    const [line] = (await costs().csv(ann, { by: 'agent', ...march })).join('\r\n').match(/^.*"a2"[^]*?0\.5/m) ?? [];
    await named('Desk');
    assert.equal(line, `2026-03-15,"a2","Desk;' =HYPERLINK(""x"");'+1\n'@x|'-2\t'＝3; a = b",1,100,20,0.5`);
  });
});

describe('the forecast of a month', () => {
  const days = (from: number, costs: number[]) =>
    costs.map((costUsd, index) => ({
      date: new Date(Date.UTC(2026, 2, from + index)).toISOString().slice(0, 10),
      costUsd,
    }));

  it('is what was spent, and a mean day for each that is left', () => {
    const forecast = forecastOf(days(11, [2, 4, 2, 4, 1]), new Date('2026-03-15T12:00:00Z'));
    // 13 so far, 2 more today, 16 days at 3
    assert.deepEqual([forecast.soFarUsd, forecast.endUsd, forecast.basisDays, forecast.daysLeft], [13, 63, 4, 16]);
    assert.ok(forecast.lowUsd! > 13 && forecast.lowUsd! < 63 && forecast.highUsd! > 63);
  });

  it('counts from the first day on which anything was used, and says nothing from too few', () => {
    const noon = new Date('2026-03-15T12:00:00Z');
    assert.equal(forecastOf(days(1, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 3, 3, 0]), noon).perDayUsd, 3);
    assert.equal(forecastOf(days(13, [3, 3, 9]), noon).endUsd, null);
    assert.deepEqual(forecastOf([], noon).basisDays, 0);
  });

  it('is what today already cost on the last day of a dear month', () => {
    const { endUsd, daysLeft } = forecastOf(days(28, [1, 1, 1, 9]), new Date('2026-03-31T23:00:00Z'));
    assert.deepEqual([endUsd, daysLeft], [12, 0]);
  });
});
