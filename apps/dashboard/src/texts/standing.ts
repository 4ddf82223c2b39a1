/** What an agent may do for good without asking. */
export const standing = {
  once: 'Allow once',
  always: 'Always…',
  alwaysTitle: 'From now on it may, without asking:',
  until: 'Until you take that away in its settings.',
  proof: (asked: number, allows: number) =>
    asked === 1
      ? 'So far it has asked about this once: now.'
      : `Of the last ${asked} calls that it asked about, it would have allowed ${allows}.`,
  allow: 'Allow this from now on',
  sayWhy: 'Say why not…',
  why: 'Why not, or what it should do instead',
  whyHint: 'The agent reads it and goes on.',
  refuse: 'Refuse and tell it',
  back: 'Back',
  verbs: {
    write_file: 'write and change',
    edit_file: 'change',
    delete_file: 'delete',
    create_directory: 'make the folder',
    move_file: 'move',
    read_file: 'read',
  } as Record<string, string>,
  file: (verb: string, path: string) => `${verb} ${path}`,
  inFolder: (verb: string, folder: string) => `${verb} anything in ${folder}`,
  anyFile: (verb: string) => `${verb} any file`,
  command: (command: string, folder: string) =>
    folder === '' ? `run exactly “${command}”` : `run exactly “${command}” in ${folder}`,
  pagesOf: (host: string) => `read pages of ${host}`,
  anyPage: 'read any page',
  any: (tool: string) => `use ${tool}, whatever it says`,
  title: 'What it does without asking',
  hint: 'Rules that you made with “Always…” while it waited for you. What is set to “never” above stays so.',
  none: 'No rules yet. When it asks you, “Always…” makes one.',
  since: (when: string) => `since ${when}`,
  origin: 'the conversation',
  remove: 'Take away',
  removeNamed: (rule: string) => `Take away: ${rule}`,
  removed: 'It asks again from now on',
  kept: 'Allowed. It will not ask about this again.',
};
