import { moved, otherTool, tools } from '../../../texts/tools.ts';
import { argsOf } from './effect.ts';

/** A call of a tool in words: what is done, and with what. */
export interface ToolWords {
  verb: string;
  about: string;
}

/** Where each says what it is about; the others say all with their verb. */
const ABOUT: Readonly<Record<string, string>> = {
  search_files: 'pattern',
  search_files_content: 'query',
  shell: 'cmd',
  run_background_job: 'cmd',
  run_code: 'language',
  add_memory: 'memory',
  search_memories: 'query',
  update_memory: 'memory',
  think: 'thought',
  search_knowledge: 'query',
  activate_skill: 'name',
  browser_type: 'text',
  browser_press: 'key',
  browser_login: 'login',
  handoff: 'agent',
  transfer_task: 'agent',
  run_background_agent: 'agent',
  user_prompt: 'message',
  search_tool: 'query',
  add_tool: 'name',
  change_model: 'model',
};
const OF_A_FILE = /^(?:read_file|write_file|edit_file|delete_file|create_directory|list_directory|directory_tree)$/;
/** A line of a list, not what was written. */
const MOST = 200;

const line = (value: unknown): string => {
  if (typeof value !== 'string') return '';
  const text = value
    .slice(0, 2 * MOST)
    .trim()
    .replaceAll(/\s+/g, ' ');
  return text.length > MOST ? `${text.slice(0, MOST).trimEnd()}…` : text;
};

/** An address without what nobody reads: example.com/news */
function shortAddress(url: unknown): string {
  const text = line(url);
  return text.replace(/^https?:\/\/(?:www\.)?/i, '').replace(/\/$/, '');
}

function aboutOf(tool: string, json: string): string {
  const args = argsOf(json);
  if (tool === 'move_file') return moved(line(args['source']), line(args['destination']));
  if (tool === 'fetch' || tool === 'browser_open') return shortAddress(args['url']);
  if (tool === 'create_todos') return line(listed(args['descriptions']));
  if (tool === 'browser_select') return line(listed(args['values']));
  if (OF_A_FILE.test(tool) || tool === 'read_skill_file') return line(args['path']);
  const key = Object.hasOwn(ABOUT, tool) ? ABOUT[tool] : undefined;
  return key === undefined ? '' : line(args[key]);
}

const listed = (value: unknown): string =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string').join(', ') : '';

/** What a call does, as a person would say it; a tool that nobody here knows is called by its own name. */
export function toolWords(tool: string, args: string, isGoing = false): ToolWords {
  const isKnown = Object.hasOwn(tools, tool);
  const words = isKnown ? tools[tool]! : otherTool;
  return { verb: words[isGoing ? 1 : 0], about: isKnown ? aboutOf(tool, args) : tool };
}

export const toolLine = (tool: string, args: string): string => {
  const { verb, about } = toolWords(tool, args);
  return about === '' ? verb : `${verb} ${about}`;
};
