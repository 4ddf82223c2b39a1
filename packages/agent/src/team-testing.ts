import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readTeamYaml } from '@troupe/domain/team-yaml';
import { createOutbound, createWorkerPool, silentLog } from '@troupe/kernel';
import type { Agent } from './agent.ts';
import { createSandbox } from './sandbox/sandbox.ts';
import { createSqliteStore } from './store/store-sqlite.ts';
import { teamDefinitions } from './team.ts';
import { scriptedModel, type Script } from './testing.ts';
import { createToolkit } from './tools/toolkit.ts';
import type { Peers } from './tools/transfer-task.ts';
import { wakeAgent } from './wake.ts';

/** A whole team from its YAML, each agent with a store of its own on one file, as the embedded driver runs it. */
export async function startTeam(yaml: string, script: Script) {
  const reading = readTeamYaml(yaml);
  assert.ok(reading.ok, reading.ok ? '' : reading.error);
  const folder = await mkdtemp(path.join(tmpdir(), 'team-'));
  const outbound = createOutbound({ allowLoopback: true });
  const pool = createWorkerPool();
  const model = scriptedModel(script);
  const agents = new Map<string, Agent>();
  const definitions = teamDefinitions({ team: reading.team, teamId: 't', agentId: (name) => `id-${name}` });
  const closers: (() => void)[] = [() => void pool.close()];
  const peers: Peers = async ({ agentId }) => agents.get(agentId);
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
      peers,
    });
    agents.set(
      agentId,
      wakeAgent({
        agentId,
        store,
        model,
        tools: toolkit.tools,
        peers,
        workspace: toolkit.workspace,
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
    folder: path.join(folder, 'ws'),
    model,
    close: async () => {
      closers.forEach((close) => close());
      await outbound.close();
      await rm(folder, { recursive: true });
    },
  };
}
