import { web } from '@troupe/contract';
import { useCall } from '../../../api.ts';
import { api as texts } from '../../../texts/addresses.ts';
import { Code } from '../../../ui/code.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { gatewayOf, openAiCall } from './addresses.ts';
import type { AddressKind } from './addresses.ts';

/** Where a program finds the agent that talks to it as to a model, or as to a server of tools. */
export default function Address({ agentId, kind }: { agentId: string; kind: AddressKind }) {
  const read = useCall(web.agents.get, { params: { id: agentId } });
  return (
    <Loaded from={read} rows={3}>
      {({ agent: { websocketUrl } }) => {
        const gateway = gatewayOf(websocketUrl);
        return (
          <div className="flex flex-col gap-2">
            <Code
              label={texts.labels[kind]}
              text={kind === 'openai' ? openAiCall(gateway, agentId) : `${gateway}/mcp`}
            />
            <p className="text-[0.9rem] text-ink-soft">{texts.hints[kind]}</p>
          </div>
        );
      }}
    </Loaded>
  );
}
