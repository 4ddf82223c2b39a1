import { steps } from '../services/director.ts';
import { nothing, unless, type Prepare } from './hostile.ts';
import { agentWithMcp } from './mcp-server.ts';

/** An MCP server whose answer has to be checked against its own schema, with a pattern that takes years on it. */
export const hostileMcpSchema: Prepare = async (scene) => {
  const agentId = await agentWithMcp(
    scene,
    `'tools/list': () => ({ tools: [{ name: 'slow', description: 'x', inputSchema: { type: 'object' },
       outputSchema: { type: 'object', properties: { x: { type: 'string', pattern: '^(a+)+$' } } } }] }),
     'tools/call': () => ({ content: [], structuredContent: { x: 'a'.repeat(31) + '!' } })`,
  );
  const message = steps({ tool: 'evil_slow', args: {} }, { say: 'done' });
  return {
    attack: (signal) => unless(signal, scene.attacker.ask('POST', '/api/chat', { agentId, message })),
    end: nothing,
  };
};
