import { nav } from '../texts/shell.ts';
import type { IconName } from '../ui/icons.tsx';

export interface NavItem {
  to: string;
  label: string;
  icon: IconName;
  admin?: boolean;
}

/** Every page of the application, in the order in which people meet them. The sidebar and the command palette read it. */
export const NAV: { group: string; items: NavItem[] }[] = [
  {
    group: nav.groups.stage,
    items: [
      { to: '/dashboard', label: nav.dashboard, icon: 'home' },
      { to: '/dashboard/inbox', label: nav.inbox, icon: 'bell' },
      { to: '/dashboard/say', label: nav.say, icon: 'chat' },
      { to: '/dashboard/agents', label: nav.agents, icon: 'agents' },
      { to: '/dashboard/teams', label: nav.teams, icon: 'teams' },
      { to: '/dashboard/skills', label: nav.skills, icon: 'book' },
      { to: '/dashboard/knowledge', label: nav.knowledge, icon: 'folder' },
      { to: '/dashboard/tasks', label: nav.tasks, icon: 'tasks' },
      { to: '/dashboard/compare', label: nav.compare, icon: 'gateway' },
    ],
  },
  {
    group: nav.groups.operate,
    items: [
      { to: '/dashboard/heartbeat', label: nav.heartbeat, icon: 'heartbeat' },
      { to: '/dashboard/devices', label: nav.devices, icon: 'devices' },
      { to: '/dashboard/config', label: nav.config, icon: 'config' },
      { to: '/dashboard/webhooks', label: nav.webhooks, icon: 'send' },
      { to: '/dashboard/installations', label: nav.installations, icon: 'installations' },
    ],
  },
  {
    group: nav.groups.money,
    items: [
      { to: '/dashboard/cost', label: nav.cost, icon: 'cost' },
      { to: '/dashboard/billing', label: nav.billing, icon: 'billing' },
      { to: '/dashboard/wallet', label: nav.wallet, icon: 'wallet' },
      { to: '/dashboard/gateway', label: nav.gateway, icon: 'gateway' },
      { to: '/dashboard/policy', label: nav.policy, icon: 'policy' },
      { to: '/dashboard/underground', label: nav.underground, icon: 'underground' },
    ],
  },
  {
    group: nav.groups.account,
    items: [
      { to: '/dashboard/settings', label: nav.settings, icon: 'settings' },
      { to: '/dashboard/admin', label: nav.admin, icon: 'admin', admin: true },
    ],
  },
];

/** What a thumb reaches on a phone; the rest is behind the menu. */
export const BOTTOM = ['/dashboard', '/dashboard/inbox', '/dashboard/agents', '/dashboard/cost'];
