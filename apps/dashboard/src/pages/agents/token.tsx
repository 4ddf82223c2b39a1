import { getAgentToken } from '@troupe/contract';
import { useState } from 'react';
import { useCall } from '../../api.ts';
import { manage as texts } from '../../texts/agents.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Code } from '../../ui/code.tsx';
import { Loaded } from '../../ui/states.tsx';

/** Asked for only when somebody wants to see it. */
export function Token({ agentId }: { agentId: string }) {
  const [visible, setVisible] = useState(false);
  const read = useCall(getAgentToken, { params: { id: agentId } }, { enabled: visible });
  return (
    <Card title={texts.token} hint={texts.tokenHint}>
      {visible ? (
        <Loaded from={read} rows={1}>
          {({ token }) => <Code label={texts.token} text={token} />}
        </Loaded>
      ) : (
        <Button icon="eye" onClick={() => setVisible(true)}>
          {texts.showToken}
        </Button>
      )}
    </Card>
  );
}
