import { web } from '@troupe/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { carefully, stale } from '../../../api.ts';
import { check } from '../../../checks.ts';
import { makePasskey } from '../../../passkeys.ts';
import { factors as texts, step } from '../../../texts/safety.ts';
import { Dialog } from '../../../ui/dialog.tsx';
import { NameForm } from './name-form.tsx';

async function add(name: string): Promise<string[] | null> {
  // Before the browser asks for the passkey. A name is one for every kind of factor.
  check(web.factors.startTotp, { body: { name } });
  const passkey = await makePasskey(await carefully(web.factors.startPasskey, {}));
  if (!passkey) throw new Error(step.cancelled);
  return (await carefully(web.factors.addPasskey, { body: { name, passkey } })).recoveryCodes;
}

export function AddPasskey({ onClose, onAdded }: { onClose: () => void; onAdded: (codes: string[] | null) => void }) {
  const queries = useQueryClient();
  const send = useMutation({
    mutationFn: add,
    onSuccess: async (codes) => {
      await stale(queries, web.factors.list);
      onAdded(codes);
    },
  });
  return (
    <Dialog open onClose={onClose} title={texts.addPasskey} hint={step.passkeyHint}>
      <NameForm
        suggested={texts.passkeyName}
        send={send}
        action={texts.make}
        onClose={onClose}
        onName={(name) => send.mutate(name)}
      />
    </Dialog>
  );
}
