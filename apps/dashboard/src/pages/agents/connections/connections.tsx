import { useSearch } from '@tanstack/react-router';
import { servers as texts } from '../../../texts/connections.ts';
import { Notice } from '../../../ui/card.tsx';
import { Channels } from '../channels/channels.tsx';
import { Logins } from '../logins.tsx';
import { Widgets } from '../widgets/widgets.tsx';
import { Api } from './api.tsx';
import { AgentDevices } from './devices.tsx';
import { Servers } from './servers.tsx';

/** Where people and programs reach the agent, MCP servers whose tools it uses, and what its browser signs in with. */
export function Connections({ agentId }: { agentId: string }) {
  const search = useSearch({ strict: false }) as Record<string, string | undefined>;
  return (
    <div className="flex flex-col gap-5">
      {search['connected'] && <Notice tone="ok">{texts.isConnected(search['connected'])}</Notice>}
      {search['refused'] && <Notice tone="spot">{texts.isRefused(search['refused'])}</Notice>}
      {search['failed'] && <Notice tone="danger">{texts.isFailed(search['failed'])}</Notice>}
      <Channels agentId={agentId} />
      <Servers agentId={agentId} />
      <Api agentId={agentId} />
      <Widgets agentId={agentId} />
      <AgentDevices agentId={agentId} />
      <Logins agentId={agentId} />
    </div>
  );
}
