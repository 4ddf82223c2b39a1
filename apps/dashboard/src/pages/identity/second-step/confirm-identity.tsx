import { lazy, Suspense, useEffect, useState } from 'react';
import { onConfirmFirst } from '../../../api.ts';

// Few are ever asked.
const IdentityDialog = lazy(() => import('./identity-dialog.tsx').then((page) => ({ default: page.IdentityDialog })));

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
  return <Suspense fallback={null}>{answer && <IdentityDialog onFinish={finish} />}</Suspense>;
}
