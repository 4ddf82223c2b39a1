import { web } from '@troupe/contract';
import { useEffect, useState } from 'react';
import { call, onConfirmFirst, useCall, useSend } from '../../../api.ts';
import { confirmIdentity as texts } from '../../../texts/safety.ts';
import { Notice } from '../../../ui/card.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { ProofForm } from './proof-form.tsx';

/** Whatever is refused until its owner has shown again who they are is asked for here, and then tried once more. */
export function ConfirmIdentity() {
  const [answer, setAnswer] = useState<{ resolve: (confirmed: boolean) => void }>();
  useEffect(
    () =>
      onConfirmFirst(() => {
        const { promise, resolve } = Promise.withResolvers<boolean>();
        setAnswer({ resolve });
        return promise;
      }),
    [],
  );
  const finish = (confirmed: boolean) => {
    answer?.resolve(confirmed);
    setAnswer(undefined);
  };
  return (
    <Dialog open={answer !== undefined} onClose={() => finish(false)} title={texts.title} hint={texts.hint}>
      {answer && <Asking onDone={() => finish(true)} />}
    </Dialog>
  );
}

function Asking({ onDone }: { onDone: () => void }) {
  const read = useCall(web.factors.list, {});
  const send = useSend(web.secondStep.confirm, { refresh: [web.factors.list], done: onDone });
  return (
    <Loaded from={read} rows={2}>
      {({ confirmWith }) =>
        confirmWith.length === 0 ? (
          <Notice tone="spot">{texts.signInAgain}</Notice>
        ) : (
          <ProofForm
            methods={confirmWith}
            options={() => call(web.secondStep.confirmPasskey, {})}
            send={send}
            onProof={(body) => send.mutate({ body })}
          />
        )
      }
    </Loaded>
  );
}
