import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import { mkdtemp } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { createSqliteStore, makeWorkspace, wakeAgent, type AgentStore, type Workspace } from '@troupe/agent';
import type { ChatRequest, ChatResult, ModelClient } from '@troupe/ai';
import { newDefinition } from '@troupe/domain';
import { AppError, createOutbound, createWorkerPool, silentLog } from '@troupe/kernel';
import type { Channel, ChannelDeps, ChannelSettings } from './channel.ts';
import { channelWebhook } from './channels.ts';

/** An agent whose words a test writes, and stand-ins for the services. */

type Script = (said: string, request: ChatRequest) => string | Promise<string>;

function scripted(script: Script): ModelClient & { requests: ChatRequest[] } {
  const requests: ChatRequest[] = [];
  async function chat(request: ChatRequest): Promise<ChatResult> {
    requests.push(request);
    const content = request.messages.at(-1)?.content ?? '';
    const said = typeof content === 'string' ? content : JSON.stringify(content);
    return {
      id: `r${requests.length}`,
      model: request.model ?? '',
      provider: 'script',
      message: { role: 'assistant', content: await script(said, request) },
      finishReason: 'stop',
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      usageEstimated: false,
      costMicros: 1,
    };
  }
  return {
    chat,
    async *stream(request) {
      const { id, model, provider, message, ...rest } = await chat(request);
      yield { id, model, provider, content: String(message.content), ...rest };
    },
    requests,
  };
}

interface Options {
  script?: Script;
  store?: AgentStore;
}

export async function testAgent({ script = (said) => `heard ${said}`, store: given }: Options = {}) {
  const store = given ?? createSqliteStore({ file: ':memory:', agentId: 'agent' });
  const model = scripted(script);
  if (!(await store.definition())) await store.saveDefinition(newDefinition({ name: 'Ada', tools: [] }));
  const root = path.join(await mkdtemp(path.join(tmpdir(), 'channels-')), 'files');
  const pool = createWorkerPool();
  after(() => pool.close());
  const files: Workspace = await makeWorkspace(root, { pool, owner: 'agent' });
  const workspace = async (): Promise<Workspace> => files;
  const agent = wakeAgent({
    agentId: 'agent',
    model,
    tools: async () => [],
    workspace,
    log: silentLog,
    pollMs: 20,
    store,
  });
  return { agent, store, model, files };
}

export function depsFor(
  agent: ChannelDeps['agent'],
  baseUrl: string,
  settings: ChannelSettings,
  more: Partial<ChannelDeps> = {},
): ChannelDeps {
  const outbound = createOutbound({ allowLoopback: true });
  const pool = createWorkerPool();
  after(() => Promise.all([outbound.close(), pool.close()]));
  const own = { agent, settings, outbound, pool, owner: 'agent', log: silentLog };
  return { ...own, baseUrl, pollSeconds: 1, retryMs: 10, ...more };
}

export interface Called {
  method: string;
  path: string;
  headers: http.IncomingHttpHeaders;
  raw: Buffer;
  body: Record<string, unknown>;
}

function bodyOf(raw: Buffer, type = ''): Record<string, unknown> {
  if (type.includes('urlencoded')) return Object.fromEntries(new URLSearchParams(raw.toString()));
  if (!type.includes('json')) return {};
  return JSON.parse(raw.toString() || '{}') as Record<string, unknown>;
}

/** A stand-in for a service: answers by `reply`, and tells what it was asked. */
export async function standIn(reply: (call: Called) => unknown) {
  const calls = new EventEmitter();
  const sent: Called[] = [];
  const server = http.createServer((request, response) => {
    void (async () => {
      const raw = Buffer.concat(await request.toArray());
      const { method = '', url = '', headers } = request;
      const call = { method, path: url, headers, raw, body: bodyOf(raw, headers['content-type']) };
      const answer = await reply(call);
      const {
        status = 200,
        body = answer,
        headers: more = {},
      } = (answer ?? {}) as { status?: number; body?: unknown; headers?: Record<string, string> };
      if (Buffer.isBuffer(body)) response.writeHead(status).end(body);
      else response.writeHead(status, { 'content-type': 'application/json', ...more }).end(JSON.stringify(body ?? {}));
      sent.push(call);
      calls.emit('call', call);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const called = async (part: string): Promise<Called> => {
    for (;;) {
      const found = sent.findIndex((call) => call.path.includes(part));
      if (found >= 0) return sent.splice(found, 1)[0]!;
      await once(calls, 'call');
    }
  };
  return { url, server, called, sent };
}

/** Where a service reaches the channel. */
export async function webhookOf(channel: Channel): Promise<string> {
  const ours = http.createServer((request, response) => {
    channelWebhook([channel], request.url ?? '', request, response).then(
      (was) => was || response.writeHead(404).end(),
      (error: unknown) => response.writeHead(error instanceof AppError ? error.status : 500).end(),
    );
  });
  await new Promise<void>((resolve) => ours.listen(0, '127.0.0.1', resolve));
  after(() => ours.close().closeAllConnections());
  return `http://127.0.0.1:${(ours.address() as AddressInfo).port}`;
}

/** Until it is so; for what no event tells of. */
export async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
