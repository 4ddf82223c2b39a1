import { web } from '@troupe/contract';
import { useMutation } from '@tanstack/react-query';
import { call } from '../../../api.ts';
import { askPasskey } from '../../../passkeys.ts';
import { step as texts } from '../../../texts/safety.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';

async function signIn(): Promise<void> {
  const passkey = await askPasskey(await call(web.secondStep.startPasskey, {}));
  if (!passkey) throw new Error(texts.cancelled);
  await call(web.secondStep.signIn, { body: { passkey } });
}

export function PasskeySignIn({ onDone }: { onDone: () => void }) {
  const send = useMutation({ mutationFn: signIn, onSuccess: onDone });
  return (
    <>
      <Button icon="key" busy={send.isPending} onClick={() => send.mutate()}>
        {texts.signInWith}
      </Button>
      {send.error && <Notice tone="danger">{send.error.message}</Notice>}
    </>
  );
}
