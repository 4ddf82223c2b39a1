import { web } from '@troupe/contract';
import { call, useCall, useSend } from '../../../api.ts';
import { confirmIdentity as texts } from '../../../texts/safety.ts';
import { Notice } from '../../../ui/card.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { ProofForm } from './proof-form.tsx';

export function IdentityDialog({ onFinish }: { onFinish: (confirmed: boolean) => void }) {
  return (
    <Dialog open onClose={() => onFinish(false)} title={texts.title} hint={texts.hint}>
      <Asking onDone={() => onFinish(true)} />
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
