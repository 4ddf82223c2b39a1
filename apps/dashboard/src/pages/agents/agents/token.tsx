import { web } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { manage as texts } from '../../../texts/agents.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Code } from '../../../ui/code.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';

/** Asked for only when somebody wants to see it. */
export function Token({ agentId }: { agentId: string }) {
  const [visible, setVisible] = useState(false);
  const [asking, setAsking] = useState(false);
  const say = useSay();
  const read = useCall(web.agents.getToken, { params: { id: agentId } }, { enabled: visible });
  const rotate = useSend(web.agents.rotateToken, {
    refresh: [web.agents.getToken],
    done: () => {
      say(texts.rotated);
      setAsking(false);
    },
  });
  return (
    <Card title={texts.token} hint={texts.tokenHint}>
      {visible && (
        <Loaded from={read} rows={1}>
          {({ token }) => <Code label={texts.token} text={token} />}
        </Loaded>
      )}
      <span className="inline-flex flex-wrap gap-2">
        {!visible && (
          <Button icon="eye" onClick={() => setVisible(true)}>
            {texts.showToken}
          </Button>
        )}
        <Button onClick={() => setAsking(true)}>{texts.rotateToken}</Button>
      </span>
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title={texts.rotateTitle}
        losses={texts.rotateLosses}
        action={texts.rotateToken}
        busy={rotate.isPending}
        error={rotate.error}
        onConfirm={() => rotate.mutate({ params: { id: agentId } })}
      />
    </Card>
  );
}
