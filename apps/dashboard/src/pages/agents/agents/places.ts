/** Where on an agent's page an address leads. Addresses of earlier versions lead to what they meant. */
export interface Place {
  tab: string;
  part?: string | undefined;
}

const EARLIER: Record<string, Place> = {
  sessions: { tab: 'work', part: 'conversations' },
  messages: { tab: 'work', part: 'messages' },
  logs: { tab: 'work', part: 'log' },
  stats: { tab: 'work', part: 'cost' },
  config: { tab: 'settings', part: 'config' },
  evaluations: { tab: 'settings', part: 'evaluations' },
  backups: { tab: 'settings', part: 'backups' },
  manage: { tab: 'settings', part: 'manage' },
};

export const tabOf = ({ tab = 'chat', part }: { tab?: string; part?: string }): Place =>
  Object.hasOwn(EARLIER, tab) ? EARLIER[tab]! : { tab, part };
