import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { teamDefinitions } from '@troupe/agent';
import { createStandIn, replyChat, replyJson } from '@troupe/ai';
import { readTeamYaml } from '@troupe/domain/team-yaml';
import { silentLog } from '@troupe/kernel';
import { startAgent, type StandaloneAgent } from './app.ts';
import { readAgentSettings } from './settings.ts';

const YAML = `
name: Pair
agents:
  lead: { tools: [think], instruction: You lead. }
  writer: { tools: [think], instruction: You write. }
`;

test('members that run as programs of their own are reached through the platform', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'agent-team-'));
  const agents = new Map<string, StandaloneAgent>();
  const provider = await createStandIn((request, response) => {
    if (request.path === '/v1/mcp_servers') return replyJson(response, { servers: [] });
    const messages = request.body['messages'] as { role: string; content: string }[];
    const isLead = messages[0]?.content.includes('You lead');
    const last = messages.at(-1);
    if (!isLead) return replyChat(request, response, { content: `a poem about ${last?.content}` });
    if (last?.role === 'tool') return replyChat(request, response, { content: `the writer says: ${last.content}` });
    const args = JSON.stringify({ agent: 'writer', task: 'the sea' });
    replyChat(request, response, { content: '', toolCalls: [{ id: 'c', name: 'transfer_task', arguments: args }] });
  });
  /** The platform as far as its agents see it: models, and the way to each other. */
  const platform = http.createServer((request, response) => {
    const proxied = /^\/api\/runtime\/proxy\/([^/]+)(\/.*)$/.exec(request.url ?? '');
    const base = proxied ? agents.get(proxied[1] ?? '')?.url : provider.url;
    const upstream = http.request(
      `${base}${proxied?.[2] ?? request.url}`,
      { method: request.method, headers: request.headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    upstream.on('error', () => response.writeHead(502).end());
    request.pipe(upstream);
  });
  await new Promise<void>((resolve) => platform.listen(0, '127.0.0.1', resolve));
  after(async () => {
    for (const agent of agents.values()) await agent.close();
    platform.close().closeAllConnections();
    await provider.close();
    await rm(folder, { recursive: true, force: true });
  });

  const reading = readTeamYaml(YAML);
  assert.ok(reading.ok);
  for (const { agentId, definition } of teamDefinitions({
    team: reading.team,
    teamId: 't',
    agentId: (name) => `t-${name}`,
  })) {
    const settings = readAgentSettings({
      AGENT_ID: agentId,
      GATEWAY_TOKEN: `${agentId}-`.padEnd(64, 'x'),
      MEMBER_TOKEN: 'member-token-'.padEnd(64, 'y'),
      TEAM_ID: 't',
      PLATFORM_URL: `http://127.0.0.1:${(platform.address() as AddressInfo).port}`,
      DATA_DIR: path.join(folder, agentId),
      PORT: '0',
      HEARTBEAT: 'off',
      AGENT_DEFINITION: JSON.stringify(definition),
    });
    agents.set(agentId, await startAgent({ settings, log: silentLog }));
  }
  const lead = agents.get('t-lead')?.agent;
  const answer = await lead?.ask({ to: { channel: 'web', key: 'k' }, content: 'a poem, please' });
  assert.equal(answer?.reply, 'the writer says: a poem about the sea');
  assert.equal(answer?.spent.turns, 3, 'the lead pays for the member');
});
