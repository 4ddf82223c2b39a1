import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findTemplate, teamFromTemplate } from '@troupe/domain';
import { readTeamYaml, teamYaml } from '@troupe/domain/team-yaml';
import { createOutbound, createWorkerPool, silentLog } from '@troupe/kernel';
import type { Agent } from './agent.ts';
import { createSandbox } from './sandbox/sandbox.ts';
import { createSqliteStore } from './store/store-sqlite.ts';
import { teamDefinitions } from './team.ts';
import { TOKENS_A_CALL, lastText, scriptedModel, type Script } from './testing.ts';
import { createToolkit } from './tools/toolkit.ts';
import { wakeAgent } from './wake.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A whole team from its YAML, each agent with a store of its own on one file, as the embedded driver runs it. */
async function startTeam(yaml: string, script: Script) {
  const reading = readTeamYaml(yaml);
  assert.ok(reading.ok);
  const folder = await mkdtemp(path.join(tmpdir(), 'team-'));
  const outbound = createOutbound();
  const pool = createWorkerPool();
  const model = scriptedModel(script);
  const agents = new Map<string, Agent>();
  const definitions = teamDefinitions({ team: reading.team, teamId: 't', agentId: (name) => `id-${name}` });
  const closers: (() => void)[] = [() => void pool.close()];
  for (const { agentId, definition } of definitions) {
    const store = createSqliteStore({ file: path.join(folder, 'team.db'), agentId, teamId: 't' });
    closers.push(store.close);
    await store.saveDefinition(definition);
    const toolkit = createToolkit({
      store,
      workspaceRoot: path.join(folder, 'ws'),
      sandbox: createSandbox(),
      outbound,
      log: silentLog,
      pool,
      owner: 'user',
      peers: async (member) => agents.get(member.agentId),
    });
    agents.set(
      agentId,
      wakeAgent({
        agentId,
        store,
        model,
        tools: toolkit.tools,
        log: silentLog,
        pollMs: 20,
      }),
    );
  }
  const agent = (name: string): Agent => {
    const found = agents.get(`id-${name}`);
    assert.ok(found);
    return found;
  };
  return {
    agent,
    model,
    close: async () => {
      closers.forEach((close) => close());
      await outbound.close();
      await rm(folder, { recursive: true });
    },
  };
}

const template = findTemplate('dev_team');
assert.ok(template);
const yaml = teamYaml(teamFromTemplate(template));
const web = { channel: 'web', key: 'k' };
const isLead = (request: Parameters<Script>[0]) => request.tools?.some((one) => one.function.name === 'transfer_task');

describe('a team', () => {
  test('runs from its YAML: the lead hands work over, all share memory and todos', async () => {
    const { agent, model, close } = await startTeam(yaml, (request) => {
      const last = request.messages.at(-1);
      if (isLead(request)) {
        if (last?.role !== 'tool') {
          return {
            calls: [
              { tool: 'add_memory', args: { memory: 'The release is called Nightingale' } },
              {
                tool: 'transfer_task',
                args: { agent: 'engineer', task: 'write hello.txt', expected_output: 'a file' },
              },
              { tool: 'transfer_task', args: { agent: 'nobody', task: 'x' } },
            ],
          };
        }
        return `lead heard: ${request.messages
          .slice(-3)
          .map(({ content }) => String(content))
          .join(' | ')}`;
      }
      if (last?.role !== 'tool') return { calls: [{ tool: 'write_file', args: { path: 'hello.txt', content: 'hi' } }] };
      return `engineer: ${String(last.content)}`;
    });
    const answer = await agent('pm').ask({ to: web, content: 'ship it' });
    assert.match(answer.reply, /engineer: Wrote 2 bytes to hello.txt/);
    assert.match(answer.reply, /There is no member nobody. Members: engineer, qa/);
    assert.equal(answer.spent.tokens, 4 * TOKENS_A_CALL, 'the lead pays for what the member used');
    const system = String(model.requests.find((request) => !isLead(request))?.messages[0]?.content);
    assert.match(system, /You are the Engineer of the Dev Team/);
    const shared = await agent('qa').store.recall({ scope: 'team', query: 'nightingale', limit: 5 });
    assert.equal(shared.length, 1);
    await close();
  });

  test('a member’s work is bounded by what the lead has left', async () => {
    let memberTurns = 0;
    const { agent, close } = await startTeam(yaml, (request) => {
      if (isLead(request))
        return request.messages.at(-1)?.role === 'tool'
          ? 'enough'
          : { calls: [{ tool: 'transfer_task', args: { agent: 'qa', task: 'never end' } }] };
      memberTurns++;
      return { calls: [{ tool: 'think', args: { thought: String(memberTurns) } }] };
    });
    const answer = await agent('pm').ask({
      to: web,
      content: 'go',
      limits: { maxTurns: 6, maxTokens: 1e6, maxCostMicros: 1e9, maxSeconds: 60 },
    });
    assert.equal(memberTurns, 5);
    assert.equal(answer.outcome, 'limit');
    await close();
  });

  test('a cancelled lead takes its member’s work with it', async () => {
    let started: () => void = () => {};
    const working = new Promise<void>((resolve) => {
      started = resolve;
    });
    const { agent, close } = await startTeam(yaml, (request, _turn, signal) => {
      if (isLead(request)) return { calls: [{ tool: 'transfer_task', args: { agent: 'qa', task: 'wait' } }] };
      started();
      return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
    });
    const answer = agent('pm').ask({ to: web, content: 'go' });
    await working;
    const [session] = await agent('pm').store.sessions({ limit: 1, offset: 0 });
    await agent('pm').cancel(session?.id ?? '', 'owner');
    assert.equal((await answer).outcome, 'cancelled');
    const [member] = await agent('qa').store.sessions({ limit: 1, offset: 0 });
    for await (const live of agent('qa').follow(member?.id ?? '', 0, AbortSignal.timeout(5000))) {
      if (live.kind === 'event' && live.event.type === 'run_ended') {
        assert.equal(live.event.outcome, 'cancelled');
        break;
      }
    }
    assert.equal(lastText({ messages: [] }), '');
    await close();
  });
});
