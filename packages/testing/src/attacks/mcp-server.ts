import assert from 'node:assert/strict';
import { stringify } from 'yaml';
import type { Scene } from './scene.ts';

/** The attacker's own agent with an MCP server that is a program in its sandbox: the address of a service would have to be public. */
export async function agentWithMcp({ attacker }: Scene, answers: string): Promise<string> {
  const program = `
    const answers = { initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} },
      serverInfo: { name: 'hostile', version: '1' } }), ${answers} };
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method](params) }));
    });`;
  const yaml = stringify({
    name: 'Hostile',
    agents: {
      root: { instruction: 'x', toolsets: [{ type: 'mcp', name: 'evil', command: 'node', args: ['-e', program] }] },
    },
  });
  const made = await attacker.ask('POST', '/api/provision/team', { plan: 'network', yaml_config: yaml });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  return made.body.agents[0].agentId as string;
}
