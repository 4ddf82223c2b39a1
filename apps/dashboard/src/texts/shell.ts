import { brand } from './common.ts';

export const nav = {
  main: 'Main',
  groups: { stage: 'Agents', operate: 'Operate', money: 'Money', account: 'Account' },
  dashboard: 'Overview',
  agents: 'Agents',
  teams: 'Teams',
  tasks: 'Tasks',
  heartbeat: 'Heartbeat',
  devices: 'Devices',
  config: 'Configuration',
  installations: 'Installations',
  cost: 'Cost and usage',
  billing: 'Plan and billing',
  wallet: 'Wallet',
  gateway: 'Payment gateway',
  underground: 'Underground',
  policy: 'Payment policy',
  settings: 'Settings',
  admin: 'Admin',
  docs: 'API reference',
  more: 'More',
};

export const shell = {
  skip: 'Skip to content',
  openMenu: 'Open navigation',
  search: 'Search and commands',
  searchShort: 'Search…',
  searchHint: 'Ctrl K',
  theme: 'Switch between light and dark',
  signOut: 'Sign out',
  notFound: 'There is no such page',
  notFoundHint: 'The address may be mistyped, or the page has moved.',
  toDashboard: 'To the overview',
  toHome: `To ${brand}'s front page`,
  crashed: 'This page could not be shown',
  offline: 'The platform does not answer. It will be tried again by itself.',
};

export const palette = {
  placeholder: 'Go to a page, an agent, or do something…',
  none: 'Nothing found',
  pages: 'Pages',
  agents: 'Agents',
  actions: 'Actions',
  newAgent: 'Create an agent',
  newTeam: 'Create a team',
  newTask: 'Schedule a task',
  newKey: 'Create an API key',
  theme: 'Switch theme',
  signOut: 'Sign out',
};
