import { web, FACTOR_NAME_LENGTH } from '@troupe/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { carefully, stale } from '../../../api.ts';
import { makePasskey } from '../../../passkeys.ts';
import { factors as texts, step } from '../../../texts/safety.ts';
import { Dialog, DialogEnd } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';

async function add(name: string): Promise<string[] | null> {
  const passkey = await makePasskey(await carefully(web.factors.startPasskey, {}));
  if (!passkey) throw new Error(step.cancelled);
  return (await carefully(web.factors.addPasskey, { body: { name, passkey } })).recoveryCodes;
}

export function AddPasskey({ onClose, onAdded }: { onClose: () => void; onAdded: (codes: string[] | null) => void }) {
  const [name, setName] = useState(texts.passkeyName);
  const queries = useQueryClient();
  const send = useMutation({
    mutationFn: () => add(name),
    onSuccess: async (codes) => {
      await stale(queries, web.factors.list);
      onAdded(codes);
    },
  });
  return (
    <Dialog open onClose={onClose} title={texts.addPasskey} hint={step.passkeyHint}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          send.mutate();
        }}
      >
        <TextField
          label={texts.nameIt}
          hint={texts.nameHint}
          maxLength={FACTOR_NAME_LENGTH}
          required
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <DialogEnd send={send} onClose={onClose} action={texts.make} />
      </form>
    </Dialog>
  );
}
