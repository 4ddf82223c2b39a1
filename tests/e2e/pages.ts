/** Every page of the dashboard: walked by the accessibility test, the size test and the screenshots. */
export interface PageEntry {
  /** Also the name of its screenshots. */
  name: string;
  path: string;
}

export const PUBLIC_PAGES: PageEntry[] = [
  { name: 'landing', path: '/' },
  { name: 'pricing', path: '/pricing' },
  { name: 'login', path: '/login' },
  { name: 'login-error', path: '/login?error=IdpNotConfigured' },
  { name: 'second-step', path: '/login/second-step' },
  { name: 'signup', path: '/signup' },
  { name: 'forgot-password', path: '/forgot-password' },
  { name: 'reset-password', path: `/reset-password?token=${'a'.repeat(64)}` },
  { name: 'verify-email', path: '/verify-email' },
  { name: 'invite', path: '/invite' },
  { name: 'shared', path: `/shared/${'0'.repeat(64)}` },
  { name: 'not-found', path: '/no/such/page' },
];

/** `:agent` stands for the id of an agent that the caller made. */
export const AGENT_PAGES: PageEntry[] = [
  { name: 'overview', path: '/dashboard' },
  { name: 'say', path: '/dashboard/say' },
  { name: 'compare', path: '/dashboard/compare' },
  { name: 'inbox', path: '/dashboard/inbox' },
  { name: 'agents', path: '/dashboard/agents' },
  { name: 'agent-new', path: '/dashboard/agents/new' },
  ...['chat', 'files', 'work', 'memory', 'connections', 'settings'].map((tab) => ({
    name: `agent-${tab}`,
    path: `/dashboard/agents/:agent?tab=${tab}`,
  })),
  ...['conversations', 'messages', 'log', 'cost'].map((part) => ({
    name: `agent-work-${part}`,
    path: `/dashboard/agents/:agent?tab=work&part=${part}`,
  })),
  ...['config', 'spend', 'knowledge', 'door', 'evaluations', 'backups', 'manage'].map((part) => ({
    name: `agent-settings-${part}`,
    path: `/dashboard/agents/:agent?tab=settings&part=${part}`,
  })),
];

export const WORK_PAGES: PageEntry[] = [
  { name: 'teams', path: '/dashboard/teams?tab=gallery' },
  { name: 'teams-own', path: '/dashboard/teams?tab=own' },
  { name: 'teams-editor', path: '/dashboard/teams?tab=editor' },
  { name: 'skills', path: '/dashboard/skills' },
  { name: 'knowledge', path: '/dashboard/knowledge' },
  { name: 'mcp-servers', path: '/dashboard/mcp-servers' },
  { name: 'tasks', path: '/dashboard/tasks' },
  { name: 'tasks-new', path: '/dashboard/tasks?new=1' },
  { name: 'heartbeat', path: '/dashboard/heartbeat' },
  { name: 'devices', path: '/dashboard/devices' },
  { name: 'config', path: '/dashboard/config' },
  { name: 'webhooks', path: '/dashboard/webhooks' },
  { name: 'installations', path: '/dashboard/installations' },
  { name: 'cost', path: '/dashboard/cost?period=30d' },
];

export const ACCOUNT_PAGES: PageEntry[] = [
  { name: 'billing', path: '/dashboard/billing' },
  { name: 'wallet', path: '/dashboard/wallet' },
  { name: 'gateway', path: '/dashboard/gateway' },
  { name: 'policy', path: '/dashboard/policy' },
  { name: 'underground', path: '/dashboard/underground' },
  { name: 'settings', path: '/dashboard/settings' },
  { name: 'settings-security', path: '/dashboard/settings?tab=security' },
  { name: 'settings-keys', path: '/dashboard/settings?tab=keys' },
  { name: 'settings-notifications', path: '/dashboard/settings?tab=notifications' },
  { name: 'settings-referrals', path: '/dashboard/settings?tab=referrals' },
  { name: 'settings-account', path: '/dashboard/settings?tab=account' },
  { name: 'settings-audit', path: '/dashboard/settings?tab=audit' },
  { name: 'authorize', path: '/dashboard/authorize?client_id=nobody' },
  { name: 'admin-users', path: '/dashboard/admin' },
  { name: 'admin-invites', path: '/dashboard/admin?tab=invites' },
  { name: 'admin-providers', path: '/dashboard/admin?tab=providers' },
  { name: 'admin-health', path: '/dashboard/admin?tab=health' },
];

export const at = ({ path }: PageEntry, agentId: string): string => path.replace(':agent', agentId);
