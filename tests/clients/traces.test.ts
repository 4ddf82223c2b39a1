import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { after, before, beforeEach, describe, it } from 'node:test';
import { replyChat, replyJson } from '@troupe/ai';
import { run as runSnippet, snippets } from '@troupe/testing/docs/snippets';
import { needs } from '@troupe/testing/machine/needs';
import { send } from '@troupe/testing/services/people';
import { reset, startWorld, type World } from '@troupe/testing/services/world';

/** A collector as OpenTelemetry defines it: what arrives is read with the public definitions. */

interface Collected {
  resource: Record<string, unknown>;
  name: string;
  kind: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  status?: { code: string };
  attributes: Record<string, unknown>;
  ms: number;
  /** In microseconds. */
  began: number;
}

const DEFINITIONS = '../judges/node_modules/@opentelemetry/otlp-transformer/build/src/generated/root.js';
const hex = (base64: string): string => Buffer.from(base64, 'base64').toString('hex');

// oxlint-disable-next-line no-explicit-any -- as the definitions read it
type Raw = Record<string, any>;

function plain(attributes: Raw[] = []): Record<string, unknown> {
  const value = (given: Raw): unknown =>
    given['arrayValue']
      ? given['arrayValue'].values.map(value)
      : given['intValue']
        ? Number(given['intValue'])
        : Object.values(given)[0];
  return Object.fromEntries(attributes.map((one) => [one['key'], value(one['value'])]));
}

function read(body: Buffer): Collected[] {
  const { opentelemetry } = createRequire(import.meta.url)(DEFINITIONS);
  const Request = opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
  const given: Raw = Request.toObject(Request.decode(body), { longs: String, bytes: String, enums: String });
  return given['resourceSpans'].flatMap(({ resource, scopeSpans }: Raw) =>
    scopeSpans.flatMap(({ spans }: Raw) =>
      spans.map((span: Raw) => ({
        ...span,
        resource: plain(resource.attributes),
        traceId: hex(span['traceId']),
        spanId: hex(span['spanId']),
        parentSpanId: hex(span['parentSpanId'] ?? ''),
        attributes: plain(span['attributes']),
        began: Number(BigInt(span['startTimeUnixNano']) / 1000n),
        ms: Number((BigInt(span['endTimeUnixNano']) - BigInt(span['startTimeUnixNano'])) / 1000n) / 1000,
      })),
    ),
  );
}

/** What the page of clients sets before it starts the platform. */
async function settingsOnPage(port: number): Promise<Record<string, string>> {
  const snippet = snippets.find(({ title }) => title === 'Traces')!;
  const addresses = { 'http://127.0.0.1:4318': `http://127.0.0.1:${port}`, 'npm start': 'env' };
  const set = await runSnippet(snippet, { addresses, home: tmpdir(), env: {} });
  return Object.fromEntries([...set.matchAll(/^(OTEL_\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]));
}

describe('a collector of traces', { skip: needs('the judges') }, () => {
  const spans: Collected[] = [];
  const asked: { path?: string | undefined; headers: NodeJS.Dict<string | string[]> }[] = [];
  let refusals = 0;
  let collector: Server;
  let world: World;
  let agent: string;

  async function collect(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    asked.push({ path: request.url, headers: request.headers });
    refusals -= 1;
    if (refusals >= 0) return void response.writeHead(503, { 'retry-after': '1' }).end();
    spans.push(...read(Buffer.concat(parts)));
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  }

  before(async () => {
    collector = createServer((request, response) => void collect(request, response)).listen(0, '127.0.0.1');
    await once(collector, 'listening');
    const { port } = collector.address() as AddressInfo;
    world = await startWorld(await settingsOnPage(port));
    const made = await send(`${world.services.web}/api/agents/provision`, 'POST', { name: 'Ada' }, owner());
    agent = made.body.agent.id;
  });
  beforeEach(() => {
    reset(world);
    spans.length = 0;
  });
  after(async () => {
    await world.stop();
    collector.close();
  });

  const owner = () => ({ authorization: `Bearer ${world.user.key}` });
  const talk = (content: string, headers: Record<string, string> = {}) =>
    send(`${world.services.web}/api/chat`, 'POST', { message: content, agentId: agent }, { ...owner(), ...headers });
  const until = async (name: string): Promise<Collected> => {
    for (;;) {
      const found = spans.find((span) => span.name.startsWith(name));
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  it('is sent a run, its model calls and its tools, as one trace within that of the caller', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const seen: unknown[] = [];
    world.openrouter.answer((request, response) => {
      seen.push(request.headers['traceparent']);
      const messages = request.body['messages'] as { role: string }[];
      if (messages.some(({ role }) => role === 'tool')) return replyChat(request, response);
      replyChat(request, response, { content: null, toolCalls: [{ id: 'c', name: 'get_memories', arguments: '{}' }] });
    });
    const { status } = await talk('What do you know?', { traceparent: `00-${traceId}-b7ad6b7169203331-01` });
    assert.equal(status, 200);
    const run = await until('invoke_agent');
    // They come in any order.
    const calls = spans.filter(({ name }) => name.startsWith('chat '));
    const [first, second] = calls.toSorted((a, b) => a.began - b.began);
    const tool = await until('execute_tool');
    assert.ok(first && second);
    assert.deepEqual(new Set(spans.map((span) => span.traceId)), new Set([traceId]));
    assert.deepEqual(
      [run.name, run.kind, run.parentSpanId],
      ['invoke_agent Ada', 'SPAN_KIND_INTERNAL', 'b7ad6b7169203331'],
    );
    assert.deepEqual(new Set([first, second, tool].map((span) => span.parentSpanId)), new Set([run.spanId]));
    assert.deepEqual([tool.name, tool.attributes['gen_ai.tool.name']], ['execute_tool get_memories', 'get_memories']);
    assert.equal(first.kind, 'SPAN_KIND_CLIENT');
    assert.equal(first.attributes['gen_ai.provider.name'], 'openrouter');
    assert.deepEqual(first.attributes['gen_ai.response.finish_reasons'], ['tool_calls']);
    assert.ok(Number(second.attributes['gen_ai.usage.output_tokens']) > 0);
    assert.deepEqual(
      [run, first, tool].map(({ attributes }) => attributes['gen_ai.operation.name']),
      ['invoke_agent', 'chat', 'execute_tool'],
    );
    const [requested, answered] = ['gen_ai.request.model', 'gen_ai.response.model'].map(
      (name) => first.attributes[name],
    );
    assert.ok(requested !== undefined && requested === answered);
    assert.ok(Number(first.attributes['gen_ai.usage.input_tokens']) > 0);
    assert.deepEqual(
      new Set([run, first, second, tool].map(({ attributes }) => attributes['gen_ai.agent.id'])),
      new Set([agent]),
    );
    const conversations = [run, first, second, tool].map(({ attributes }) => attributes['gen_ai.conversation.id']);
    assert.ok(conversations[0] !== undefined && new Set(conversations).size === 1);
    assert.deepEqual(
      [run.attributes['gen_ai.agent.name'], Number(run.attributes['gen_ai.agent.version']) > 0],
      ['Ada', true],
    );
    assert.match(String(tool.attributes['gen_ai.tool.call.id']), /^.{1,64}$/);
    assert.equal(run.attributes['troupe.run.outcome'], 'done');
    assert.ok(run.ms >= second.ms && run.ms < 60_000);
    assert.equal(run.resource['service.name'], 'troupe-backend');
    // the provider's own spans would hang below ours
    assert.deepEqual(new Set(seen), new Set([first, second].map(({ spanId }) => `00-${traceId}-${spanId}-01`)));
    const { path, headers } = asked.at(-1)!;
    assert.deepEqual([path, headers['authorization'], headers['x-team']], ['/v1/traces', 'Bearer secret', 'ours']);
    assert.doesNotMatch(JSON.stringify(spans), /What do you know|Hello from/);
  });

  it('is sent a trace of its own where the caller has none, and nothing where he wants nothing recorded', async () => {
    await talk('Hello?', { traceparent: '00-11111111111111111111111111111111-2222222222222222-00' });
    await talk('Hello again', { traceparent: '00-nonsense' });
    const run = await until('invoke_agent');
    const traces = new Set(spans.map(({ traceId }) => traceId));
    assert.deepEqual(traces, new Set([run.traceId]));
    assert.notEqual(run.traceId, '1'.repeat(32));
    assert.equal(run.parentSpanId, '');
  });

  it('is told what was read from the cache, written to it and thought', async () => {
    world.openrouter.answer((_request, response) =>
      replyJson(response, {
        choices: [{ message: { role: 'assistant', content: 'Four' }, finish_reason: 'stop' }],
        usage: {
          prompt_tokens: 100,
          completion_tokens: 20,
          total_tokens: 120,
          prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
          completion_tokens_details: { reasoning_tokens: 15 },
        },
      }),
    );
    const body = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Two and two?' }] };
    const { status } = await send(`${world.services.backend}/v1/chat/completions`, 'POST', body, owner());
    assert.equal(status, 200);
    const { attributes } = await until('chat ');
    const counts = ['cache_read.input', 'cache_write.input', 'reasoning.output', 'input', 'output'];
    assert.deepEqual(
      counts.map((name) => Number(attributes[`gen_ai.usage.${name}_tokens`])),
      [60, 30, 15, 100, 20],
    );
  });

  it('is told what failed', async () => {
    world.openrouter.answer((_request, response) => replyJson(response, { error: { message: 'no' } }, 500));
    const answer = await send(
      `${world.services.backend}/v1/chat/completions`,
      'POST',
      { model: 'openai/gpt-4o', messages: [{ role: 'user', content: 'Hi' }] },
      owner(),
    );
    assert.ok(answer.status >= 500);
    const call = await until('chat ');
    assert.equal(call.status?.code, 'STATUS_CODE_ERROR');
    assert.ok(call.attributes['error.type']);
  });

  it('is tried again when it is busy, and keeps nobody waiting', async () => {
    refusals = 1;
    assert.equal((await talk('Hello?')).status, 200);
    await until('invoke_agent');
    assert.ok(refusals < 0);
  });
});
