import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { modelCall } from '@troupe/testing/money/model-call';
import { silentLog } from '@troupe/kernel';
import { createWriter, type AiEvent } from './index.ts';

let test: TestDatabase;
before(async () => {
  test = await testDatabase();
});
after(() => test.drop());

it('gives each call of a batch its own row, whoever made it and on whichever day', async () => {
  const times = ['2026-03-15T23:59:59.990Z', '2026-03-15T23:59:59.995Z', '2026-03-16T00:00:00.003Z'];
  let call = 0;
  const clock = () => new Date(times[call] ?? times[2]!);
  const writer = createWriter({ db: test.db, log: silentLog, clock });
  const event = (given: Partial<AiEvent>): AiEvent =>
    modelCall({ inputTokens: 10, outputTokens: 1, costMicros: 100, latencyMs: 5, ...given });
  const events = [
    event({ runId: 'run-1', latencyMs: 7 }),
    event({ userId: 'bob', agentId: '', inputTokens: 20, estimated: true }),
    event({ inputTokens: 30, costMicros: 300, success: false }),
  ];
  for (const each of events) {
    writer.record(each);
    call += 1;
  }
  await writer.close();
  const rows = await test.db.system.selectFrom('usage_logs').selectAll().orderBy('created_at').execute();
  assert.deepEqual(
    rows.map((row) => ({
      userId: row.user_id,
      agentId: row.agent_id,
      runId: row.run_id ?? undefined,
      model: row.model,
      provider: row.provider,
      inputTokens: Number(row.input_tokens),
      outputTokens: Number(row.output_tokens),
      costMicros: Number(row.cost_micros),
      latencyMs: row.latency_ms,
      success: row.success,
      estimated: row.estimated,
    })),
    events,
  );
  assert.deepEqual(
    rows.map((row) => row.created_at.toISOString()),
    times,
  );
  const days = await test.db.system.selectFrom('usage_daily').selectAll().orderBy('user_id').orderBy('day').execute();
  assert.deepEqual(
    days.map((row) => [row.user_id, row.day, Number(row.calls), Number(row.failures), Number(row.input_tokens)]),
    [
      ['ann', '2026-03-15', 1, 0, 10],
      ['ann', '2026-03-16', 1, 1, 30],
      ['bob', '2026-03-15', 1, 0, 20],
    ],
  );
});
