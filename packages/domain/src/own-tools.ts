import type { TeamTool } from './teams/templates.ts';

/** The tools that an agent has of its own, by toolset, and whether they only look. */
const OWN: Readonly<Record<TeamTool, Readonly<Record<string, 'looks' | 'acts'>>>> = {
  filesystem: {
    read_file: 'looks',
    write_file: 'acts',
    edit_file: 'acts',
    list_directory: 'looks',
    directory_tree: 'looks',
    search_files: 'looks',
    search_files_content: 'looks',
    create_directory: 'acts',
    move_file: 'acts',
    delete_file: 'acts',
  },
  shell: { shell: 'acts' },
  think: { think: 'looks' },
  todo: { create_todos: 'looks', update_todo: 'looks', list_todos: 'looks' },
  memory: {
    add_memory: 'acts',
    search_memories: 'looks',
    get_memories: 'looks',
    update_memory: 'acts',
    delete_memory: 'acts',
  },
  fetch: { fetch: 'looks' },
  browser: {
    browser_open: 'looks',
    browser_snapshot: 'looks',
    browser_click: 'acts',
    browser_type: 'acts',
    browser_select: 'acts',
    browser_press: 'acts',
    browser_wait: 'looks',
    browser_back: 'looks',
    browser_tabs: 'looks',
    browser_screenshot: 'acts',
    browser_logins: 'looks',
    browser_login: 'acts',
  },
  code: { run_code: 'acts' },
  background_jobs: {
    run_background_job: 'acts',
    list_background_jobs: 'looks',
    view_background_job: 'looks',
    stop_background_job: 'looks',
  },
  user_prompt: { user_prompt: 'looks' },
};

/** What docker-agent calls some of them. */
export const OTHER_NAMES: Readonly<Record<string, string>> = {
  read_multiple_files: 'read_file',
  list_directory_with_sizes: 'list_directory',
  create_todo: 'create_todos',
  update_todos: 'update_todo',
};

export const ownTools = (toolset: TeamTool): string[] => Object.keys(OWN[toolset]);

/** The toolset that a name belongs to; undefined: it is none of the agent's own tools. */
export const toolsetOf = (name: string): string | undefined =>
  Object.entries(OWN).find(([, tools]) => Object.hasOwn(tools, OTHER_NAMES[name] ?? name))?.[0];

/** Beside the toolsets: what hands work on, and reads skills. */
const LOOKING = new Set([
  'transfer_task',
  'handoff',
  'run_background_agent',
  'list_background_agents',
  'view_background_agent',
  'stop_background_agent',
  'activate_skill',
  'read_skill_file',
  'search_knowledge',
  'list_memory_files',
  'read_memory_file',
  'read_passage',
  'change_model',
  'revert_model',
  'search_tool',
  'add_tool',
]);

/** Whether a call of it changes nothing that lasts. What a server says of its tools is not asked. */
export const onlyLooks = (name: string): boolean =>
  LOOKING.has(name) || Object.values(OWN).some((tools) => Object.hasOwn(tools, name) && tools[name] === 'looks');

/** What is really run in a trial: it acts in files, memory and todos that are thrown away, or only reads. */
const TRIED_TOOLSETS: ReadonlySet<string> = new Set([
  'filesystem',
  'shell',
  'code',
  'background_jobs',
  'script',
  'think',
  'todo',
  'memory',
  'fetch',
  'skills',
  'knowledge',
  'model_picker',
  'deferred',
]);
const TRIED_BESIDE = new Set([
  'activate_skill',
  'read_skill_file',
  'search_knowledge',
  'read_passage',
  'change_model',
  'revert_model',
  'search_tool',
  'add_tool',
]);

/** A server's tool never: nobody but the server knows what it does. */
export const runsInTrial = ({ toolset, offeredAs }: { toolset: string; offeredAs?: string | undefined }): boolean =>
  offeredAs === undefined && TRIED_TOOLSETS.has(toolset);

/** The same of a call whose tool is known by its name alone. */
export const namedInTrial = (name: string): boolean =>
  TRIED_BESIDE.has(name) || TRIED_TOOLSETS.has(toolsetOf(name) ?? '');
