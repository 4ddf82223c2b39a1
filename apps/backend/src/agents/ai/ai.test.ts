import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { type Runtime } from '@troupe/db';
import { testRuntime } from '@troupe/testing/database/runtime';
import { createMetrics, type Metrics } from '@troupe/kernel';
import { createCaps, createQueries } from '@troupe/usage';
import { createAiService, type AiService } from './service.ts';

let upstream: StandIn;
let runtime: Runtime;
let service: AiService;
let metrics: Metrics;
const ASK = { model: 'openai/gpt-4o', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] };

before(async () => {
  upstream = await createStandIn((request, response) =>
    replyChat(request, response, { usage: { prompt_tokens: 10, completion_tokens: 100 } }),
  );
  runtime = await testRuntime({ OPENROUTER_API_KEY: 'k', OPENROUTER_BASE_URL: upstream.url });
  metrics = createMetrics();
  service = createAiService({ ...runtime, sealKey: runtime.secrets.walletKey, metrics, version: '1.0.0' });
  const now = new Date();
  await runtime.db.system
    .insertInto('users')
    .values({
      id: 'ann',
      email: 'ann@example.org',
      name: 'Ann',
      referral_code: 'ANN',
      created_at: now,
      updated_at: now,
    })
    .execute();
});

after(async () => {
  metrics.close();
  await service.close();
  await runtime.close();
  await upstream.close();
});

describe('an agent’s share of the AI layer', () => {
  it('is charged to its owner, and its tools are counted', async () => {
    const ports = service.forAgent({ userId: 'ann', agentId: 'writer', plan: 'network' });
    const { costMicros } = await ports.model.chat(ASK, { runId: 'run-1' });
    ports.onTool({
      agentId: 'writer',
      runId: 'run-1',
      callId: 'c',
      tool: 'shell',
      ms: 12.4,
      success: true,
      trace: undefined,
    });
    await service.usage.flush();
    const queries = createQueries(runtime);
    const [row] = await queries.byAgent('ann', 'writer', 1);
    assert.deepEqual([row?.calls, row?.cost_usd], [1, costMicros / 1_000_000]);
    assert.deepEqual(await queries.tools('ann', 'writer', 1), [
      { tool_name: 'shell', calls: 1, successes: 1, avg_ms: 12 },
    ]);
    const logged = await runtime.db.system.selectFrom('usage_logs').select('run_id').execute();
    assert.deepEqual(logged, [{ run_id: 'run-1' }]);
  });

  it('ends at the cap of a run, and the next run starts anew', async () => {
    await createCaps(runtime).set('ann', { scope: 'run', limitUsd: 0.0035 });
    const { model } = service.forAgent({ userId: 'ann', agentId: 'writer', plan: 'network' });
    const call = (runId: string) =>
      model.chat(ASK, { runId }).then(
        () => 200,
        (error: { status: number }) => error.status,
      );
    assert.deepEqual([await call('run-2'), await call('run-2'), await call('run-3')], [200, 429, 200]);
  });

  it('has the models of its owner’s plan', async () => {
    const { model } = service.forAgent({ userId: 'ann', agentId: 'writer', plan: 'solo' });
    await assert.rejects(model.chat(ASK), { status: 403 });
  });
});
