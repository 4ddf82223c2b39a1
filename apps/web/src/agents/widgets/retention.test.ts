import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { widgetRetentionJob } from '@troupe/contract';
import { allJobsRan } from '@troupe/testing/database/jobs';
import { person, provisioned } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';
import { newWidget, SITE } from './testing.ts';

let services: Services;
before(async () => {
  services = await startServices();
});
after(() => services.stop());

test('a widget keeps its newest ten thousand visitors, however many come within its days', async () => {
  const ann = await person(services, { plan: 'label' });
  const agentId = await provisioned(ann, { name: 'Ada' });
  const { id: widgetId } = await newWidget(ann, agentId);
  const { db, jobs } = services.runtime;
  await sql`insert into widget_visitors (id, widget_id, user_id, agent_id, origin, created_at, seen_at)
    select 'flood' || n, ${widgetId}, ${ann.id}, ${agentId}, ${SITE}, now(), now() - n * interval '1 second'
    from generate_series(1, 10250) n`.execute(db.system);
  // A hundred at a time, as the job does in seconds.
  for (let n = 0; n < 3; n += 1) {
    await jobs.send(db.system, widgetRetentionJob, { widgetId, userId: ann.id }, { key: `now:${n}` });
    await allJobsRan(jobs);
  }
  const { rows } = await sql<{ kept: number; gone: number }>`select count(*)::integer as kept,
    count(*) filter (where id in (select 'flood' || n from generate_series(10001, 10250) n))::integer as gone
    from widget_visitors where widget_id = ${widgetId}`.execute(db.system);
  assert.deepEqual(rows[0], { kept: 10_000, gone: 0 });
});
