import type { PUBLIC_PAGES } from '@troupe/contract';

/** Which page is at which address. */

/** A module whose default export is the page. Each is a bundle of its own. */
export type Load = () => Promise<{ default: () => React.ReactNode }>;

/** For anybody. */
export const PUBLIC: Record<(typeof PUBLIC_PAGES)[number], Load> = {
  '/': () => import('./pages/platform/landing.tsx'),
  '/pricing': () => import('./pages/money/billing/pricing.tsx'),
  '/login': () => import('./pages/identity/session/login.tsx'),
  '/login/second-step': () => import('./pages/identity/second-step/second-step.tsx'),
  '/signup': () => import('./pages/identity/register/signup.tsx'),
  '/forgot-password': () => import('./pages/identity/password/forgot.tsx'),
  '/reset-password': () => import('./pages/identity/password/reset.tsx'),
  '/verify-email': () => import('./pages/identity/register/verify-email.tsx'),
  '/invite': () => import('./pages/identity/invites/invite.tsx'),
};

export const SHARED: [string, Load] = ['/shared/$token', () => import('./pages/agents/conversations/shared.tsx')];

/** For whoever is signed in. */
export const SIGNED_IN: [string, Load][] = [
  ['/dashboard', () => import('./pages/platform/overview/overview.tsx')],
  ['/dashboard/say', () => import('./pages/agents/say/say.tsx')],
  ['/dashboard/compare', () => import('./pages/agents/compare/compare.tsx')],
  ['/dashboard/inbox', () => import('./pages/agents/inbox/inbox.tsx')],
  ['/dashboard/agents', () => import('./pages/agents/agents/list.tsx')],
  ['/dashboard/agents/new', () => import('./pages/agents/agents/create.tsx')],
  ['/dashboard/agents/$id', () => import('./pages/agents/agents/detail.tsx')],
  ['/dashboard/runs/$run', () => import('./pages/agents/runs/run.tsx')],
  ['/dashboard/runs/$run/compare/$other', () => import('./pages/agents/runs/run-beside.tsx')],
  ['/dashboard/teams', () => import('./pages/agents/teams/teams.tsx')],
  ['/dashboard/skills', () => import('./pages/agents/skills/skills.tsx')],
  ['/dashboard/knowledge', () => import('./pages/agents/knowledge/knowledge.tsx')],
  ['/dashboard/mcp-servers', () => import('./pages/agents/servers/servers.tsx')],
  ['/dashboard/tasks', () => import('./pages/agents/tasks/tasks.tsx')],
  ['/dashboard/heartbeat', () => import('./pages/agents/heartbeat.tsx')],
  ['/dashboard/devices', () => import('./pages/agents/devices.tsx')],
  ['/dashboard/config', () => import('./pages/agents/config/config.tsx')],
  ['/dashboard/webhooks', () => import('./pages/platform/webhooks/webhooks.tsx')],
  ['/dashboard/installations', () => import('./pages/agents/installations.tsx')],
  ['/dashboard/cost', () => import('./pages/money/costs/cost.tsx')],
  ['/dashboard/billing', () => import('./pages/money/billing/billing.tsx')],
  ['/dashboard/wallet', () => import('./pages/money/wallet/wallet.tsx')],
  ['/dashboard/underground', () => import('./pages/underground/underground.tsx')],
  ['/dashboard/gateway', () => import('./pages/money/gateway.tsx')],
  ['/dashboard/policy', () => import('./pages/money/policy.tsx')],
  ['/dashboard/settings', () => import('./pages/identity/settings/settings.tsx')],
  ['/dashboard/authorize', () => import('./pages/identity/authorization/authorize.tsx')],
  ['/dashboard/admin', () => import('./pages/identity/admin/admin.tsx')],
];
