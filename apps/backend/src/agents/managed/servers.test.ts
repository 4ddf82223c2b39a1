import assert from 'node:assert/strict';
import { createServer, type Server as HttpServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { replyChat } from '@troupe/ai';
import { createEverything } from '@troupe/testing/mcp/everything';
import { reset } from '@troupe/testing/services/world';
import { createCaps } from '@troupe/usage';
import { all, MODEL, says, startKept, type Kept } from './testing.ts';

/** What Anthropic’s own client is told of MCP servers, and of a cap that is reached. */

let kept: Kept;
let mcp: HttpServer;
let agent: string;
before(async () => {
  kept = await startKept();
  const everything = createEverything();
  mcp = createServer((request, response) => {
    void (async () => {
      const chunks = (await request.toArray()) as Buffer[];
      const answered = await everything.fetch(
        new Request(`http://x${request.url}`, {
          method: request.method ?? 'GET',
          headers: Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]),
          ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
        }),
      );
      response.writeHead(answered.status, Object.fromEntries(answered.headers)).end(await answered.text());
    })();
  }).listen(0, '127.0.0.1');
  await once(mcp, 'listening');
  const url = `http://127.0.0.1:${(mcp.address() as AddressInfo).port}/mcp`;
  const toolset = { type: 'agent_toolset_20260401' as const };
  agent = (await kept.client.beta.agents.create({ name: 'Caller', model: MODEL, tools: [toolset] })).id;
  for (const name of ['things', 'get'])
    assert.equal((await kept.ask('PUT', `/api/agents/${agent}/mcp-servers/${name}`, { url })).status, 200);
});
beforeEach(() => {
  reset(kept.world);
  kept.world.openrouter.answer((request, response) => {
    const last = (request.body['messages'] as { role: string; content: string }[]).at(-1)!;
    if (last.role === 'tool') return replyChat(request, response, { content: 'done' });
    replyChat(request, response, { content: null, toolCalls: [{ id: 'c', name: last.content, arguments: '{}' }] });
  });
});
after(async () => {
  await kept.world.stop();
  mcp.close().closeAllConnections();
});

interface Told {
  type: string;
  id: string;
  name?: string;
  mcp_server_name?: string;
  mcp_tool_use_id?: string;
  tool_use_id?: string;
  content?: { text: string }[];
  stop_reason?: { type: string };
}

/** What happens when it calls the tool, as it happens and as it is kept. */
async function told(tool: string): Promise<{ live: Told[]; listed: Told[] }> {
  const { id } = await kept.client.beta.sessions.create({ agent, environment_id: kept.environment });
  const stream = await kept.client.beta.sessions.events.stream(id);
  await kept.client.beta.sessions.events.send(id, { events: [says(tool)] });
  const live: Told[] = [];
  for await (const event of stream) {
    live.push(event as Told);
    if (event.type === 'session.status_idle') break;
  }
  return { live, listed: (await all(kept.client.beta.sessions.events.list(id))) as Told[] };
}

describe('a tool of an MCP server', () => {
  it('is told as one, with its server and the name that it has there', async () => {
    const { live, listed } = await told('things_test_simple_text');
    for (const events of [live, listed]) {
      const use = events.find(({ type }) => type === 'agent.mcp_tool_use');
      assert.deepEqual([use?.mcp_server_name, use?.name], ['things', 'test_simple_text']);
      const result = events.find(({ type }) => type === 'agent.mcp_tool_result');
      assert.equal(result?.mcp_tool_use_id, use?.id);
      assert.match(result?.content?.[0]?.text ?? '', /simple text response/);
      assert.ok(!events.some(({ type }) => type === 'agent.tool_use' || type === 'agent.tool_result'));
    }
  });

  it('is not taken for one of the agent’s own that begins alike', async () => {
    const { live } = await told('get_memories');
    const use = live.find(({ type }) => type === 'agent.tool_use');
    assert.equal(use?.name, 'get_memories');
    assert.equal(live.find(({ type }) => type === 'agent.tool_result')?.tool_use_id, use?.id);
  });
});

it('a cap that is reached ends the turn as such', async () => {
  const caps = createCaps(kept.world.services.runtime);
  await caps.set(kept.world.user.id, { scope: 'run', limitUsd: 0.000_001 });
  const { live } = await told('get_memories');
  assert.equal(live.find(({ type }) => type === 'session.status_idle')?.stop_reason?.type, 'budget_reached');
  assert.ok(live.some(({ type }) => type === 'session.error'));
});
