import { z } from 'zod';
import type { AgentDefinition } from '@troupe/domain';
import type { SessionEvent } from '../session/events.ts';
import { failed, tool, type Tool } from './tool.ts';

/** Tools that the model is shown only once it has looked for them: a long list is paid for with every call. */

const SEARCH = 'search_tool';
const ADD = 'add_tool';
const SHOWN = 20;
const ARGS = { search: z.object({ query: z.string().max(200) }), add: z.object({ name: z.string().max(200) }) };

/** `true`: all tools of the toolset; else those of these names. */
function isDeferred({ traits }: AgentDefinition, { name, toolset, offeredAs }: Tool): boolean {
  const rules = traits?.deferred ?? {};
  const rule = Object.hasOwn(rules, toolset) ? rules[toolset] : undefined;
  return rule === true || (Array.isArray(rule) && (rule.includes(name) || rule.includes(offeredAs ?? '')));
}

/** All tools, and the two that find the deferred ones. */
export function withSearch(definition: AgentDefinition, tools: readonly Tool[]): readonly Tool[] {
  if (!definition.traits?.deferred) return tools;
  const hidden = tools.filter((one) => isDeferred(definition, one));
  if (hidden.length === 0) return tools;
  return [...tools, searchTool(hidden), addTool(hidden)];
}

const line = ({ name, description }: Tool): string => `- ${name}: ${description.slice(0, 200)}`;

const searchTool = (hidden: readonly Tool[]): Tool =>
  tool({
    name: SEARCH,
    toolset: 'deferred',
    description: `Find further tools by words of their name or description; add one with ${ADD} before you use it.`,
    args: ARGS.search,
    repeatable: true,
    async run({ query }) {
      const words = query.toLowerCase().split(/\s+/).filter(Boolean);
      const found = hidden.filter((one) => {
        const text = `${one.name} ${one.description}`.toLowerCase();
        return words.length === 0 || words.some((word) => text.includes(word));
      });
      return found.length > 0 ? found.slice(0, SHOWN).map(line).join('\n') : 'There is no such tool.';
    },
  });

const addTool = (hidden: readonly Tool[]): Tool =>
  tool({
    name: ADD,
    toolset: 'deferred',
    description: `Have a tool that ${SEARCH} found from your next step on.`,
    args: ARGS.add,
    repeatable: true,
    run: async ({ name }) =>
      hidden.some((one) => one.name === name)
        ? `${name} is there from your next step on.`
        : failed(`There is no tool ${name}; look for it with ${SEARCH}.`),
  });

/** The tools that the model is shown now. */
export function shownIn(
  definition: AgentDefinition,
  tools: readonly Tool[],
  events: readonly SessionEvent[],
): readonly Tool[] {
  if (!definition.traits?.deferred) return tools;
  const calls = events.flatMap((event) => (event.type === 'assistant' ? event.toolCalls : []));
  const added = new Set(calls.flatMap((call) => (call.tool === ADD ? [addedBy(call.args)] : [])));
  return tools.filter((one) => !isDeferred(definition, one) || added.has(one.name));
}

function addedBy(args: string): string | undefined {
  try {
    return ARGS.add.safeParse(JSON.parse(args)).data?.name;
  } catch {
    return undefined;
  }
}
