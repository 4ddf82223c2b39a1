import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { tasksWaiting } from '@troupe/contract';
import { notify } from '@troupe/db';
import { all, answerDone, isRefused, MODEL, says, startKept, type Kept } from './testing.ts';

/** Deployments of Anthropic’s own client. */

let kept: Kept;
before(async () => {
  kept = await startKept();
});
beforeEach(() => answerDone(kept.world));
after(() => kept.world.stop());

describe('deployments', () => {
  it('begin a session when they are run; the run says which', async () => {
    const made = await kept.deploy({ description: 'Every day', metadata: { a: 'b' } });
    assert.deepEqual(
      [made.type, made.name, made.agent.id, made.status, made.schedule, made.metadata],
      ['deployment', 'Daily', kept.agent, 'active', null, { a: 'b' }],
    );
    const run = await kept.client.beta.deployments.run(made.id);
    assert.deepEqual([run.deployment_id, run.error, run.trigger_context.type], [made.id, null, 'manual']);
    const session = await kept.client.beta.sessions.retrieve(run.session_id!);
    assert.deepEqual([session.deployment_id, session.title, session.agent.id], [made.id, 'Daily', kept.agent]);
    for (;;) {
      const events = await all(kept.client.beta.sessions.events.list(session.id));
      if (!events.some(({ type }) => type === 'session.status_idle')) continue;
      const [first] = events as { type: string; content: { text: string }[] }[];
      assert.deepEqual([first!.type, first!.content[0]!.text], ['user.message', 'Report.']);
      break;
    }
    const second = await kept.client.beta.deployments.run(made.id);
    assert.notEqual(second.session_id, run.session_id);
    const runs = await all(kept.client.beta.deploymentRuns.list({ deployment_id: made.id, limit: 1 }));
    assert.deepEqual(
      runs.map(({ id }) => id),
      [second.id, run.id],
    );
    assert.deepEqual(await kept.client.beta.deploymentRuns.retrieve(run.id), run);
    assert.deepEqual(await all(kept.client.beta.deploymentRuns.list({ deployment_id: made.id, has_error: true })), []);
    const sessions = await all(kept.client.beta.sessions.list({ deployment_id: made.id }));
    assert.deepEqual(new Set(sessions.map(({ id }) => id)), new Set([run.session_id, second.session_id]));
  });

  it('run by their schedule, each time once, and are tasks of the dashboard, too', async () => {
    const schedule = { type: 'cron' as const, expression: '0 7 * * *', timezone: 'Europe/Rome' };
    const made = await kept.deploy({ name: 'Morning', schedule });
    assert.equal(made.schedule!.upcoming_runs_at!.length, 5);
    const { db } = kept.world.services.runtime;
    await db.system
      .updateTable('scheduled_tasks')
      .set({ next_run: new Date(0) })
      .where('id', '=', made.id)
      .execute();
    // Something that arrives has the scheduler look at once.
    await db.asSystem((tx) => notify(tx, tasksWaiting, ''));
    let runs = await all(kept.client.beta.deploymentRuns.list({ deployment_id: made.id }));
    while (!runs[0]?.session_id) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      runs = await all(kept.client.beta.deploymentRuns.list({ deployment_id: made.id, trigger_type: 'schedule' }));
    }
    assert.equal(runs.length, 1);
    assert.equal(runs[0]!.trigger_context.type, 'schedule');
    assert.equal((await kept.client.beta.sessions.retrieve(runs[0]!.session_id!)).deployment_id, made.id);
    assert.ok((await kept.client.beta.deployments.retrieve(made.id)).schedule!.last_run_at);
    const tasks = await kept.ask('GET', `/api/scheduled-tasks?agentId=${kept.agent}`);
    const task = (tasks.body.tasks as { id: string; prompt: string }[]).find(({ id }) => id === made.id);
    assert.equal(task?.prompt, 'Report.');
  });

  it('are changed, paused, listed and archived', async () => {
    const schedule = { type: 'cron' as const, expression: '*/5 * * * *', timezone: 'UTC' };
    const made = await kept.deploy({ name: 'Often', schedule });
    const changed = await kept.client.beta.deployments.update(made.id, {
      name: 'Seldom',
      initial_events: [says('Less.')],
      metadata: { c: 'd' },
    });
    assert.deepEqual([changed.name, changed.schedule!.expression], ['Seldom', '*/5 * * * *']);
    assert.deepEqual(changed.initial_events, [says('Less.')]);
    const paused = await kept.client.beta.deployments.pause(made.id);
    assert.deepEqual(
      [paused.status, paused.paused_reason, paused.schedule!.upcoming_runs_at],
      ['paused', { type: 'manual' }, []],
    );
    const ids = async (query: object) =>
      (await all(kept.client.beta.deployments.list({ limit: 1, ...query }))).map(({ id }) => id);
    assert.ok((await ids({ status: 'paused', agent_id: kept.agent })).includes(made.id));
    assert.ok(!(await ids({ status: 'active' })).includes(made.id));
    assert.equal((await kept.client.beta.deployments.unpause(made.id)).status, 'active');
    assert.equal((await kept.client.beta.deployments.update(made.id, { schedule: null })).schedule, null);
    assert.ok((await kept.client.beta.deployments.archive(made.id)).archived_at);
    assert.ok(!(await ids({})).includes(made.id));
    assert.ok((await ids({ include_archived: true })).includes(made.id));
    for (const refused of [
      () => kept.client.beta.deployments.run(made.id),
      () => kept.client.beta.deployments.unpause(made.id),
      () => kept.client.beta.deployments.update(made.id, { name: 'x' }),
    ])
      await assert.rejects(refused(), { status: 400, message: /archived/ });
  });

  it('whose agent is archived say so in the run', async () => {
    const { id } = await kept.client.beta.agents.create({ name: 'Short', model: MODEL });
    const made = await kept.deploy({ agent: id });
    await kept.client.beta.agents.archive(id);
    const run = await kept.client.beta.deployments.run(made.id);
    assert.deepEqual(
      [run.session_id, run.error],
      [null, { type: 'agent_archived_error', message: 'The agent is archived' }],
    );
    assert.deepEqual(
      (await all(kept.client.beta.deploymentRuns.list({ deployment_id: made.id, has_error: true }))).length,
      1,
    );
  });

  it('that ask for what is not there are refused by name, and the plan’s number of tasks holds', async () => {
    for (const [more, message] of [
      [{ vault_ids: ['vlt_1'] }, /vault_ids/],
      [{ resources: [{ type: 'file', file_id: 'f' }] }, /resources/],
      [{ budget: { type: 'usd', amount: 1 } }, /budget/],
      [{ initial_events: [] }, /initial_events/],
      [{ initial_events: [{ type: 'user.define_outcome', description: 'd' }] }, /initial_events/],
      [{ schedule: { type: 'cron', expression: 'often', timezone: 'UTC' } }, /cron/],
      [{ schedule: { type: 'cron', expression: '* * * * *', timezone: 'Moon' } }, /timezone/],
      [{ agent: { type: 'agent', id: kept.agent, version: 1 } }, /version/],
      [{ name: ' ' }, /name/],
    ] as const)
      await assert.rejects(kept.deploy(more), isRefused(400, 'invalid_request_error', message), JSON.stringify(more));
    const own = await kept.other.beta.agents.create({ name: 'Own', model: MODEL });
    const place = await kept.other.beta.environments.create({ name: 'e' });
    const wanted = { agent: own.id, environment_id: place.id, name: 'n', initial_events: [says('x')] };
    let made = 0;
    await assert.rejects(
      async () => {
        for (; made < 500; made += 1) await kept.other.beta.deployments.create(wanted);
      },
      isRefused(429, 'rate_limit_error', /Scheduled task limit reached/),
    );
    assert.ok(made > 0);
  });
});
