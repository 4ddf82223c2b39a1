import { web } from '@troupe/contract';
import { useSend } from '../../../api.ts';
import { chat as texts } from '../../../texts/agents.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';

/** In the place where one writes: why not, and the way to change that. */
export function SwitchedOff({ agentId, says = texts.stopped }: { agentId: string; says?: string }) {
  const start = useSend(web.instance.act, { refresh: [web.agents.list, web.agents.get] });
  return (
    <Notice tone={start.error ? 'danger' : 'spot'}>
      <p className="mb-2">{start.error?.message ?? says}</p>
      <Button
        small
        busy={start.isPending}
        onClick={() => start.mutate({ params: { userId: agentId, action: 'start' }, body: {} })}
      >
        {texts.startIt}
      </Button>
    </Notice>
  );
}
