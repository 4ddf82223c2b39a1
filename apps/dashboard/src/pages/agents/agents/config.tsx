import { web } from '@troupe/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { stale, useCall, useSend } from '../../../api.ts';
import { config as texts } from '../../../texts/operate.ts';
import { Loaded } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { ConfigEditor } from '../config/editor.tsx';
import { Gated } from '../evaluations/gated.tsx';
import { StandingRules } from './standing-rules.tsx';

/** The agent's own configuration; a running agent takes a change over at once. */
export function AgentConfig({ agentId }: { agentId: string }) {
  const params = { id: agentId };
  const read = useCall(web.agents.getConfig, { params });
  const say = useSay();
  const queries = useQueryClient();
  const [saved, setSaved] = useState(0);
  const done = () => {
    setSaved((times) => times + 1);
    say(texts.savedAgent);
  };
  const save = useSend(web.agents.putConfig, { refresh: [web.agents.getConfig], done });
  const wanted = save.variables?.body ?? {};
  const taken = async () => {
    await stale(queries, web.agents.getConfig);
    done();
  };
  return (
    <div className="flex flex-col gap-5">
      <Loaded from={read} rows={8}>
        {({ config }) => (
          <>
            <ConfigEditor
              name={`config:${agentId}`}
              config={config}
              saved={saved}
              busy={save.isPending}
              error={save.error}
              onSave={(_, changed) => save.mutate({ params, body: changed })}
            />
            <StandingRules agentId={agentId} config={config} />
          </>
        )}
      </Loaded>
      <Gated
        agentId={agentId}
        error={save.error}
        change={{ config: wanted }}
        onForce={() => save.mutate({ params, query: { force: 'true' }, body: wanted })}
        onTaken={() => void taken()}
      />
    </div>
  );
}
