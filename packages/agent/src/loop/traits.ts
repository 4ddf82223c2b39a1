import type { ChatRequest } from '@troupe/ai';
import type { AgentDefinition } from '@troupe/domain';
import type { SessionEvent } from '../session/events.ts';
import { pickedIn } from '../tools/model-picker.ts';
import type { Tool } from '../tools/tool.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { RunDeps } from './run.ts';

/** How a definition's traits change what a model is asked. */

/** Of all files that are shown together: they are paid for with every call. */
const SHOWN_CHARACTERS = 40_000;
const SHOWN_BYTES = 256 * 1024;

export function createTexts(workspace: () => Promise<Workspace>): RunDeps['text'] {
  return async (path) => {
    try {
      return await (await workspace()).read(path, SHOWN_BYTES);
    } catch (error) {
      const { code, name } = error as NodeJS.ErrnoException;
      // It is not there, no text, or the agent has no files.
      if (code !== undefined || ['WorkspaceError', 'OutsideWorkspace', 'AppError'].includes(name)) return undefined;
      throw error;
    }
  };
}

/** What the model is told beside its instruction: the day, where it works, and files that it is always to know. */
export async function shownBy(
  { traits = {} }: AgentDefinition,
  { now, text }: Pick<RunDeps, 'now' | 'text'>,
): Promise<string[]> {
  const { addDate, addEnvironment, promptFiles = [] } = traits;
  const parts: string[] = [];
  if (addDate) parts.push(`Today is ${new Date(now()).toISOString().slice(0, 10)} (UTC).`);
  if (addEnvironment)
    parts.push('Your working directory is your workspace. Operating system: Linux, in a sandbox. Shell: /bin/sh.');
  let left = SHOWN_CHARACTERS;
  for (const path of promptFiles) {
    const content = await text(path);
    if (content === undefined || left <= 0) continue;
    const cut = content.slice(0, left);
    left -= cut.length;
    const rest = cut.length < content.length ? '\n[the rest is in the file]' : '';
    parts.push(`<file path="${path}">\n${cut}${rest}\n</file>`);
  }
  return parts;
}

/** A message that is the name of a command stands for its text; words after the name are its arguments. */
export function saidBy({ traits }: AgentDefinition, events: readonly SessionEvent[]): readonly SessionEvent[] {
  const commands = traits?.commands;
  if (!commands) return events;
  return events.map((event) => {
    if (event.type !== 'user') return event;
    const [, name = '', rest = ''] = /^\/([A-Za-z0-9][\w-]*)(?:\s+([\s\S]*))?$/.exec(event.content.trim()) ?? [];
    if (!Object.hasOwn(commands, name)) return event;
    return { ...event, content: filledIn(commands[name]?.instruction ?? '', rest.trim()) };
  });
}

/** `$1` to `$9` are single words; where the text names none of them, what was said stands below it. */
function filledIn(instruction: string, said: string): string {
  if (!/\$[1-9]\b/.test(instruction)) return said === '' ? instruction : `${instruction}\n\n${said}`;
  const words = said.split(/\s+/);
  return instruction.replaceAll(/\$([1-9])\b/g, (_, place: string) => words[Number(place) - 1] ?? '');
}

/** Which model is asked, how, and what its answer is to look like; what a caller asks for comes before it. */
export function wishesOf(
  { traits, config }: AgentDefinition,
  events: readonly SessionEvent[],
  tools: readonly Tool[],
): Omit<ChatRequest, 'messages'> {
  if (!traits) return {};
  const { sampling = {}, output } = traits;
  const model =
    pickedIn(events, traits.pickable ?? []) ??
    readerOf(traits, events, tools) ??
    routedBy(traits, events) ??
    turnOf(traits, events, config.model.default);
  return {
    ...(defined(sampling) as Omit<ChatRequest, 'messages'>),
    ...(output && { response_format: { type: 'json_schema', json_schema: output } }),
    ...(model !== undefined && { model }),
  };
}

const defined = (given: object): object =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

type Traits = NonNullable<AgentDefinition['traits']>;

/** The model that reads the results of what was called last; results for different readers are read by the agent's own. */
function readerOf(
  { toolModels = {} }: Traits,
  events: readonly SessionEvent[],
  tools: readonly Tool[],
): string | undefined {
  const last = events.findLast(({ type }) => type === 'assistant' || type === 'user');
  const called = last?.type === 'assistant' ? last.toolCalls : [];
  const readers = called.map((call) => {
    const toolset = tools.find(({ name }) => name === call.tool)?.toolset ?? '';
    return Object.hasOwn(toolModels, toolset) ? toolModels[toolset] : undefined;
  });
  return new Set(readers).size === 1 ? readers[0] : undefined;
}

const wordsIn = (text: string): Set<string> =>
  new Set(
    text
      .slice(0, 4000)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu),
  );

/** The model whose examples have most words in common with the question, by their share of both. */
function routedBy({ routing = [] }: Traits, events: readonly SessionEvent[]): string | undefined {
  const question = routing.length > 0 ? events.findLast((event) => event.type === 'user') : undefined;
  if (question?.type !== 'user') return undefined;
  const asked = wordsIn(question.content);
  let best: { model?: string; likeness: number } = { likeness: 0 };
  for (const { model, examples } of routing)
    for (const example of examples) {
      const words = wordsIn(example);
      const likeness = [...words].filter((word) => asked.has(word)).length / Math.sqrt(words.size * asked.size || 1);
      if (likeness > best.likeness) best = { model, likeness };
    }
  return best.model;
}

/** One of the models that answer in turn, unless the owner has chosen another since. */
function turnOf({ inTurn = [] }: Traits, events: readonly SessionEvent[], chosen: string): string | undefined {
  if (inTurn[0] !== chosen) return undefined;
  return inTurn[events.filter(({ type }) => type === 'assistant').length % inTurn.length];
}
