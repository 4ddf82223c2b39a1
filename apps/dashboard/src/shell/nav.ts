import { nav, parts } from '../texts/shell.ts';
import type { IconName } from '../ui/icons.tsx';

export interface NavItem {
  to: string;
  label: string;
  /** Other words that people look for it by. */
  also?: string;
  admin?: boolean;
}

/** A place in the sidebar: one page, or several that a row of links above them leads to. */
export interface NavPlace {
  label: string;
  icon: IconName;
  items: [NavItem, ...NavItem[]];
  /** Pages that are within it and lie elsewhere. */
  also?: string;
}

/** Every page of the application, in the order in which people meet them. Sidebar, rows and the command palette read it. */
export const NAV: NavPlace[] = [
  { label: nav.dashboard, icon: 'home', items: [{ to: '/dashboard', label: nav.dashboard }] },
  { label: nav.inbox, icon: 'bell', items: [{ to: '/dashboard/inbox', label: nav.inbox }] },
  {
    label: nav.agents,
    icon: 'agents',
    items: [
      { to: '/dashboard/agents', label: nav.allAgents },
      { to: '/dashboard/say', label: nav.say },
      { to: '/dashboard/compare', label: nav.compare },
    ],
    also: '/dashboard/runs',
  },
  { label: nav.teams, icon: 'teams', items: [{ to: '/dashboard/teams', label: nav.teams }] },
  {
    label: nav.tasks,
    icon: 'tasks',
    items: [
      { to: '/dashboard/tasks', label: nav.allTasks },
      { to: '/dashboard/heartbeat', label: nav.heartbeat, also: nav.also.heartbeat },
    ],
  },
  {
    label: nav.library,
    icon: 'book',
    items: [
      { to: '/dashboard/knowledge', label: nav.knowledge },
      { to: '/dashboard/skills', label: nav.skills },
      { to: '/dashboard/mcp-servers', label: nav.servers, also: nav.also.servers },
    ],
  },
  {
    label: nav.money,
    icon: 'cost',
    items: [
      { to: '/dashboard/cost', label: nav.cost, also: nav.also.cost },
      { to: '/dashboard/billing', label: nav.billing },
      { to: '/dashboard/wallet', label: nav.wallet },
      { to: '/dashboard/gateway', label: nav.gateway },
      { to: '/dashboard/policy', label: nav.policy },
    ],
  },
  { label: nav.underground, icon: 'underground', items: [{ to: '/dashboard/underground', label: nav.underground }] },
];

/** Below the others: what is set once. */
export const NAV_BELOW: NavPlace[] = [
  {
    label: nav.settings,
    icon: 'settings',
    items: [
      { to: '/dashboard/settings', label: nav.account },
      { to: '/dashboard/config', label: nav.config, also: nav.also.config },
      { to: '/dashboard/devices', label: nav.devices },
      { to: '/dashboard/installations', label: nav.installations, also: nav.also.installations },
      { to: '/dashboard/webhooks', label: nav.webhooks },
    ],
  },
  { label: nav.admin, icon: 'admin', items: [{ to: '/dashboard/admin', label: nav.admin, admin: true }] },
];

/** Where an address is, and whether it is one of a place's own pages. What lies below a page is within its place. */
export function placeOf(pathname: string): { place: NavPlace | undefined; item: NavItem | undefined } {
  const path = pathname.replace(/\/+$/, '') || '/dashboard';
  for (const place of [...NAV, ...NAV_BELOW]) {
    const isBelow = (to: string) => to !== '/dashboard' && path.startsWith(`${to}/`);
    const within = place.items.find(({ to }) => path === to || isBelow(to));
    if (within) return { place, item: path === within.to ? within : undefined };
    if (place.also && isBelow(place.also)) return { place, item: undefined };
  }
  return { place: undefined, item: undefined };
}

/** What a thumb reaches on a phone; the rest is behind the menu. */
export const BOTTOM = [nav.dashboard, nav.inbox, nav.agents, nav.money];

/** Parts of pages that people look for by name. */
export const PARTS: { place: NavPlace; label: string; to: string; tab: string; admin?: boolean }[] = [
  ...Object.entries(parts.settings).map(([tab, label]) => ({
    place: NAV_BELOW[0]!,
    label,
    to: '/dashboard/settings',
    tab,
  })),
  ...Object.entries(parts.admin).map(([tab, label]) => ({
    place: NAV_BELOW[1]!,
    label,
    to: '/dashboard/admin',
    tab,
    admin: true,
  })),
];
