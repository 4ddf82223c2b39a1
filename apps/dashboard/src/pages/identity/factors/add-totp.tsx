import { CODE_LENGTH, web, FACTOR_NAME_LENGTH } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useState } from 'react';
import { useSend } from '../../../api.ts';
import { factors as texts } from '../../../texts/safety.ts';
import { Code } from '../../../ui/code.tsx';
import { Dialog, DialogEnd } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Qr } from '../../../ui/qr.tsx';

interface AddProps {
  onClose: () => void;
  onAdded: (codes: string[] | null) => void;
}

type Started = TypesOf<typeof web.factors.startTotp>['reply'];

export function AddTotp({ onClose, onAdded }: AddProps) {
  const [name, setName] = useState(texts.totpName);
  const [started, setStarted] = useState<Started>();
  const start = useSend(web.factors.startTotp, { done: setStarted });
  if (started) return <ShowCode started={started} onClose={onClose} onAdded={onAdded} />;
  return (
    <Dialog open onClose={onClose} title={texts.addTotp}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          start.mutate({ body: { name } });
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
        <DialogEnd send={start} onClose={onClose} action={texts.next} />
      </form>
    </Dialog>
  );
}

function ShowCode({ started: { id, secret, uri }, onClose, onAdded }: AddProps & { started: Started }) {
  const [code, setCode] = useState('');
  const confirm = useSend(web.factors.confirmTotp, {
    refresh: [web.factors.list],
    done: ({ recoveryCodes }) => onAdded(recoveryCodes),
  });
  return (
    <Dialog open onClose={onClose} title={texts.totpTitle} hint={texts.totpHint}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          confirm.mutate({ params: { id }, body: { code } });
        }}
      >
        <div className="flex justify-center">
          <Qr text={uri} label={texts.qr} />
        </div>
        <a href={uri} className="link self-center text-[0.9rem]">
          {texts.open}
        </a>
        <Code label={texts.secret} text={secret.replace(/(.{4})(?=.)/g, '$1 ')} />
        <TextField
          label={texts.code}
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={CODE_LENGTH}
          required
          value={code}
          onChange={({ target }) => setCode(target.value)}
        />
        <DialogEnd send={confirm} onClose={onClose} action={texts.turnOn} />
      </form>
    </Dialog>
  );
}
