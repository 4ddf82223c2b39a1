/** What stands in every row of the page Connections. */
export const connections = {
  test: 'Test',
  tryNow: 'Try now',
  change: 'Change',
  correct: 'Correct it',
  remove: 'Remove',
  removeTitle: (name: string) => `Remove ${name}?`,
  /** For who hears a button without seeing its row. */
  named: (action: string, name: string) => `${action}: ${name}`,
  remedies: 'What to do about it',
};

export const servers = {
  title: 'MCP servers',
  hint: 'Their tools are the agent’s tools.',
  none: 'No servers yet.',
  states: { unused: 'not tried', connected: 'works', failed: 'fails', consent: 'asks for access' },
  connect: 'Connect',
  lastTried: (when: string) => `last tried ${when}`,
  why: (error: string) => `It cannot be used: ${error}. The agent works without it.`,
  offers: (tools: readonly string[]) => (tools.length === 0 ? 'It offers no tools.' : `Offers ${tools.join(', ')}`),
  removeLoss: 'The agent loses its tools, and what opened the server is forgotten.',
  removed: 'Server removed',
  ofAll: 'Servers of all agents',
  inherited: 'of all agents',
  isOff: 'switched off here',
  switchOff: 'Switch off',
  switchOn: 'Switch on',
  update: 'Update',
  updated: (version: string) => `Updated to ${version}`,
  pinned: (name: string, version: string, packages: number) =>
    `Pinned to ${name} ${version}, with ${packages === 1 ? 'no other package' : `${packages - 1} others`}:`,
  alreadyThere: 'The agent has access already',
  isConnected: (name: string) => `The agent has access to ${name} now.`,
  isRefused: (name: string) => `${name} did not give access.`,
  isFailed: (name: string) => `${name} could not be connected. Try again; the agent’s log may say more.`,
  add: 'Add a server',
  attachHint:
    'A service on the internet, or a program that runs in the agent’s sandbox with the network that its configuration allows.',
  name: 'Name',
  address: 'Address or command',
  addressHint: 'https://example.org/mcp, or a command such as npx -y some-server',
  headers: 'Headers',
  env: 'Environment',
  secretsHint:
    'One in each line, NAME: value. Kept sealed, and not shown again. Leave it empty for a server that asks for access.',
  clientId: 'Client ID',
  clientIdHint: (callback: string) =>
    `Only for a server that gave you one. It wants to know where to send you back: ${callback}`,
  clientSecret: 'Client secret',
  clientSecretHint: 'If it gave you one. Kept sealed, and not shown again.',
  attach: 'Add',
  attached: 'Server added',
};

export const userServers = {
  title: 'MCP servers',
  lead: 'Servers that all of your agents use, also those that you make later. An agent can do without one.',
  count: (count: number, most: number) => `${count} of ${most} that your plan has.`,
  none: 'No servers for all agents yet.',
  agents: 'How it is with each agent',
  noAgents: 'You have no agents yet.',
  who: 'Who has it',
  all: 'All agents, also new ones',
  some: 'Only those that I choose',
  chosen: 'Agents',
  asking: 'Its tools',
  approvals: { allow: 'run without asking', ask: 'ask me first', deny: 'are not run' },
  tools: 'Only these tools',
  toolsHint: 'Names as the server gives them, one in each line. Empty: all of them.',
  change: 'Change',
  changeTitle: (name: string) => `Change ${name}`,
  save: 'Save',
  changed: 'Server changed',
  removeLoss: 'All agents lose its tools at once, what runs with it ends, and what opened it is forgotten.',
  isConnected: (name: string) => `Your agents have access to ${name} now.`,
  alreadyThere: 'Your agents have access already',
  isFailed: (name: string) => `${name} could not be connected. Try again.`,
  why: (agent: string, error: string) => `${agent} cannot use it: ${error}.`,
  tried: (agent: string) => `Tried by ${agent}`,
};

export const api = {
  title: 'API',
  hint: 'Any program with one of your keys can talk to this agent.',
  by: 'Shown for',
  ways: { curl: 'curl', javascript: 'JavaScript', terminal: 'Terminal', openai: 'OpenAI', mcp: 'MCP' },
  newKey: 'New key',
  newKeyHint: 'It lets a program act as you, with all your agents. It is shown once.',
  allKeys: 'All keys',
};

export const devices = {
  hint: 'Phones and computers that talk to this agent directly. Each asks first, and you decide.',
  none: 'No devices yet.',
  add: 'Add a device',
  waits: 'waits for you',
  allowed: 'allowed',
  howHint: 'Run this on the device with the agent’s key. It then waits here for you to allow it.',
  toToken: 'To the agent key',
};
