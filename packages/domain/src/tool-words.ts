/**
 * What an agent does with its tools, in words: said of a call, said while it goes on, and said where nobody knows what it is
 * about; left out: as while it goes on.
 */
export const toolWords: Record<string, [said: string, going: string, alone?: string]> = {
  read_file: ['Read', 'Reading', 'reading a file'],
  write_file: ['Write', 'Writing', 'writing a file'],
  edit_file: ['Change', 'Changing', 'changing a file'],
  list_directory: ['Look into', 'Looking into', 'looking into a folder'],
  directory_tree: ['Look through', 'Looking through', 'looking through the folders'],
  search_files: ['Look for files like', 'Looking for files like', 'looking for files'],
  search_files_content: ['Look in the files for', 'Looking in the files for', 'looking for words in the files'],
  create_directory: ['Make the folder', 'Making the folder', 'making a folder'],
  move_file: ['Move', 'Moving', 'moving a file'],
  delete_file: ['Delete', 'Deleting', 'deleting a file'],
  shell: ['Run', 'Running', 'running a command'],
  run_background_job: ['Run in the background', 'Starting in the background', 'running a command in the background'],
  list_background_jobs: ['Look at the background commands', 'Looking at the background commands'],
  view_background_job: ['Look at a background command', 'Looking at a background command'],
  stop_background_job: ['Stop a background command', 'Stopping a background command'],
  run_code: ['Run a program', 'Running a program'],
  fetch: ['Read', 'Reading', 'reading a page'],
  add_memory: ['Remember', 'Remembering', 'remembering something'],
  search_memories: ['Look in its memory for', 'Looking in its memory for', 'looking in its memory'],
  get_memories: ['Look through its memory', 'Looking through its memory'],
  update_memory: ['Change a memory', 'Changing a memory'],
  delete_memory: ['Forget a memory', 'Forgetting a memory'],
  create_todos: ['Plan', 'Planning', 'planning'],
  update_todo: ['Tick off its plan', 'Ticking off its plan'],
  list_todos: ['Look at its plan', 'Looking at its plan'],
  think: ['Think', 'Thinking'],
  search_knowledge: ['Look in the documents for', 'Looking in the documents for', 'looking in the documents'],
  read_passage: ['Read a passage', 'Reading a passage'],
  activate_skill: ['Take the skill', 'Taking the skill', 'taking a skill'],
  read_skill_file: ['Read of a skill', 'Reading of a skill', 'reading a skill'],
  browser_open: ['Open', 'Opening', 'opening a page'],
  browser_snapshot: ['Look at the page', 'Looking at the page'],
  browser_click: ['Click', 'Clicking', 'clicking'],
  browser_type: ['Type', 'Typing', 'typing into the page'],
  browser_select: ['Choose', 'Choosing', 'choosing on the page'],
  browser_press: ['Press', 'Pressing', 'pressing a key'],
  browser_wait: ['Wait for the page', 'Waiting for the page'],
  browser_back: ['Go back a page', 'Going back a page'],
  browser_tabs: ['Look at the open pages', 'Looking at the open pages'],
  browser_screenshot: ['Take a picture of the page', 'Taking a picture of the page'],
  browser_logins: ['Look which logins it has', 'Looking which logins it has'],
  browser_login: ['Sign in with', 'Signing in with', 'signing in'],
  handoff: ['Hand over to', 'Handing over to', 'handing over'],
  transfer_task: ['Give work to', 'Giving work to', 'giving work to another'],
  run_background_agent: [
    'Give work in the background to',
    'Giving work in the background to',
    'giving work away in the background',
  ],
  list_background_agents: ['Look at the work it gave away', 'Looking at the work it gave away'],
  view_background_agent: ['Look at work it gave away', 'Looking at work it gave away'],
  stop_background_agent: ['Stop work it gave away', 'Stopping work it gave away'],
  user_prompt: ['Ask you', 'Asking you'],
  search_tool: ['Look for a tool', 'Looking for a tool'],
  add_tool: ['Take the tool', 'Taking the tool', 'taking a tool'],
  change_model: ['Change to the model', 'Changing to the model', 'changing its model'],
  revert_model: ['Go back to its own model', 'Going back to its own model'],
};

/** What a tool is for, where nobody knows what a call of it was about: within a sentence. One of others goes by its own name. */
export function toolAlone(tool: string): string {
  const words = Object.hasOwn(toolWords, tool) ? toolWords[tool] : undefined;
  if (!words) return tool;
  const [, going, alone = `${going[0]?.toLowerCase()}${going.slice(1)}`] = words;
  return alone;
}
