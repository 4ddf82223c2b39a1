import { web } from '@troupe/contract';
import { Link, useSearch } from '@tanstack/react-router';
import { call, statusOf, useCall, useSend } from '../../../api.ts';
import { step as texts } from '../../../texts/safety.ts';
import { NarrowPage } from '../../../shell/public-frame.tsx';
import { Notice } from '../../../ui/card.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { useEnter } from '../session/enter.ts';
import { ProofForm } from './proof-form.tsx';

export default function SecondStep() {
  const { next } = useSearch({ strict: false });
  const enter = useEnter(next);
  const send = useSend(web.secondStep.pass, { done: () => enter() });
  // Once it is passed nothing is owed, and asking would say that the sign-in has ended.
  const owed = useCall(web.secondStep.get, {}, { retry: false, enabled: !send.isSuccess });
  const over = statusOf(owed.error) === 401;
  return (
    <NarrowPage title={texts.title} lead={texts.lead}>
      {over ? (
        <>
          <Notice tone="spot">{texts.ended}</Notice>
          <Link to="/login" className="link">
            {texts.begin}
          </Link>
        </>
      ) : (
        <Loaded from={owed}>
          {({ methods }) => (
            <ProofForm
              methods={methods}
              options={() => call(web.secondStep.askPasskey, {})}
              send={send}
              onProof={({ code, recoveryCode, passkey }) => send.mutate({ body: { code, recoveryCode, passkey } })}
            />
          )}
        </Loaded>
      )}
    </NarrowPage>
  );
}
