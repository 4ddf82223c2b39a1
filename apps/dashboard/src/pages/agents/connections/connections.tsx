import { servers as texts } from '../../../texts/connections.ts';
import { Channels } from '../channels/channels.tsx';
import { Logins } from '../logins.tsx';
import { Widgets } from '../widgets/widgets.tsx';
import { Api } from './api.tsx';
import { AgentDevices } from './devices.tsx';
import { Returned } from './parts.tsx';
import { Servers } from './servers.tsx';

/** Where people and programs reach the agent, MCP servers whose tools it uses, and what its browser signs in with. */
export function Connections({ agentId }: { agentId: string }) {
  return (
    <div className="flex flex-col gap-5">
      <Returned says={texts} />
      <Channels agentId={agentId} />
      <Servers agentId={agentId} />
      <Api agentId={agentId} />
      <Widgets agentId={agentId} />
      <AgentDevices agentId={agentId} />
      <Logins agentId={agentId} />
    </div>
  );
}
