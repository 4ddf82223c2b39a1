import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { replyChat } from '@troupe/ai';
import { closeAll, redisCounters, silentLog, systemClock } from '@troupe/kernel';
import { testRuntime } from '@troupe/testing/database/runtime';
import { needs } from '@troupe/testing/machine/needs';
import { freePorts } from '@troupe/testing/processes/program';
import { send } from '@troupe/testing/services/people';
import { startWorld, type World } from '@troupe/testing/services/world';
import { createWeb } from '@troupe/web';

/** What /metrics tells, as Prometheus itself reads it; and that the dashboard and the alerts ask for nothing else. */

const DEPLOY = path.resolve(import.meta.dirname, '../../deploy');

function promtool(args: readonly string[], input?: string): void {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8', ...(input && { input }) });
  assert.equal(status, 0, stdout + stderr);
}

describe('metrics', () => {
  let world: World;
  before(async () => {
    // Whether Redis answers is told where there should be one.
    world = await startWorld({ REDIS_URL: 'redis://127.0.0.1:1' });
    const headers = { authorization: `Bearer ${world.user.key}` };
    const made = await send(`${world.services.web}/api/agents/provision`, 'POST', { name: 'Ada' }, headers);
    world.openrouter.answer((request, response) => {
      const messages = request.body['messages'] as { role: string }[];
      if (messages.some(({ role }) => role === 'tool')) return replyChat(request, response);
      replyChat(request, response, { content: null, toolCalls: [{ id: 'c', name: 'get_memories', arguments: '{}' }] });
    });
    const said = { message: 'What do you know?', agentId: made.body.agent.id };
    assert.equal((await send(`${world.services.web}/api/chat`, 'POST', said, headers)).status, 200);
  });
  after(() => world.stop());

  const text = async (url: string): Promise<string> => (await fetch(`${url}/metrics`)).text();
  const names = (metrics: string): Set<string> =>
    new Set([...metrics.matchAll(/^([a-z0-9_]+)(?=[{ ])/gm)].map(([, name = '']) => name));

  it('tell of runs, models, tokens, cost, tools, tasks and queues', async () => {
    const told = await text(world.services.backend);
    assert.match(told, /^agent_runs_total\{outcome="done"\} 1$/m);
    assert.match(told, /^agent_tool_duration_seconds_count\{gen_ai_tool_name="get_memories",success="true"\} 1$/m);
    assert.match(told, /^gen_ai_client_operation_duration_seconds_count\{gen_ai_provider_name="openrouter",.*\} 2$/m);
    const [, tokens] = /^gen_ai_client_tokens_total\{.*gen_ai_token_type="output"\} (\d+)$/m.exec(told) ?? [];
    assert.ok(Number(tokens) > 0);
    assert.match(told, /^gen_ai_client_token_usage_count\{.*gen_ai_token_type="input"\} 2$/m);
    for (const name of ['tasks_due', 'task_lag_seconds', 'runs_open', 'jobs_waiting', 'webhook_deliveries_pending'])
      assert.match(told, new RegExp(`^${name} 0$`, 'm'));
  });

  it('tell whether Redis answers, and tell it again when it is back', { skip: needs('redis-server') }, async () => {
    const [port] = await freePorts(1);
    const redis = () => spawn('redis-server', ['--port', String(port), '--save', ''], { stdio: 'ignore' });
    let server = redis();
    const runtime = await testRuntime({ REDIS_URL: `redis://127.0.0.1:${port}` });
    const counters = await redisCounters(`redis://127.0.0.1:${port}`, silentLog, systemClock);
    const deps = { ...runtime, counters, version: '0.0.0-test', url: 'http://127.0.0.1:3000' };
    const web = await createWeb({ ...deps, backendUrl: 'http://127.0.0.1:9' });
    const address = await web.server.listen(0, 'WEB_PORT');
    const until = async (value: number): Promise<void> => {
      const deadline = Date.now() + 30_000;
      while (!new RegExp(`^redis_up ${value}$`, 'm').test(await text(address))) {
        assert.ok(Date.now() < deadline, `redis_up is not ${value}`);
        await delay(50);
      }
    };
    try {
      await until(1);
      server.kill();
      await once(server, 'exit');
      await until(0);
      server = redis();
      await until(1);
    } finally {
      server.kill();
      await closeAll([runtime, web, counters]);
    }
  });

  it('name a thousand series at most, whatever users call their models', async () => {
    const { createMetrics } = await import('@troupe/kernel');
    const metrics = createMetrics();
    for (let n = 0; n < 3000; n += 1) metrics.counter('calls_total', 'Calls', { model: `m${n}${'x'.repeat(n)}` })();
    const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('calls_total{'));
    metrics.close();
    assert.equal(lines.length, 1001);
    assert.ok(lines.every((line) => line.length < 250));
    assert.equal(lines.at(-1), 'calls_total{model="other"} 2000');
  });

  it('are what Prometheus wants', { skip: needs('promtool') }, async () => {
    for (const url of [world.services.web, world.services.backend]) promtool(['check', 'metrics'], await text(url));
  });

  it('are all that the dashboard and the alerts ask for', async () => {
    const known = new Set([...names(await text(world.services.web)), ...names(await text(world.services.backend))]);
    const asked = [...readFileSync(path.join(DEPLOY, 'grafana.json'), 'utf8').matchAll(/"expr": "((?:[^"\\]|\\.)*)"/g)];
    const rules = [...readFileSync(path.join(DEPLOY, 'alerts.yaml'), 'utf8').matchAll(/expr: (.*)/g)];
    assert.ok(asked.length > 8 && rules.length > 5);
    for (const [, expression = ''] of [...asked, ...rules])
      for (const [name] of expression.matchAll(/\b[a-z]+(?:_[a-z0-9]+)+\b(?!\s*\()/g))
        assert.ok(known.has(name) || LABELS.has(name), `${name} in ${expression}`);
  });

  it('the alerts are rules of Prometheus', { skip: needs('promtool') }, () => {
    promtool(['check', 'rules', path.join(DEPLOY, 'alerts.yaml')]);
  });
});

const LABELS = new Set([
  'gen_ai_provider_name',
  'gen_ai_tool_name',
  'gen_ai_request_model',
  'gen_ai_token_type',
  'error_type',
  'histogram_quantile',
]);
