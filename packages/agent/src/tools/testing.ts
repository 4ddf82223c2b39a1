import { newDefinition, type AgentDefinition } from '@troupe/domain';
import { createHeld, type Tool, type ToolContext, type ToolResult } from './tool.ts';

/** Calls a tool as the loop does. */
export async function call(
  tools: readonly Tool[],
  name: string,
  args: unknown,
  {
    definition = {},
    ...context
  }: Partial<Omit<ToolContext, 'definition'>> & { definition?: Partial<AgentDefinition> } = {},
): Promise<ToolResult> {
  const found = tools.find((tool) => tool.name === name);
  if (!found) throw new Error(`there is no tool ${name}`);
  return found.run(args, {
    agentId: 'agent',
    sessionId: 's',
    callId: 'c',
    definition: newDefinition({ name: 'A', ...definition }),
    signal: new AbortController().signal,
    remaining: { maxTurns: 10, maxTokens: 1e5, maxCostMicros: 1e6, maxSeconds: 100 },
    held: createHeld(),
    ...context,
  });
}
