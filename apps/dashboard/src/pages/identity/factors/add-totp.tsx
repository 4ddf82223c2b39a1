import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useState } from 'react';
import { useSend } from '../../../api.ts';
import { factors as texts } from '../../../texts/safety.ts';
import { Code } from '../../../ui/code.tsx';
import { Dialog, DialogEnd } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { Qr } from '../../../ui/qr.tsx';
import { NameForm } from './name-form.tsx';

interface AddProps {
  onClose: () => void;
  onAdded: (codes: string[] | null) => void;
}

type Started = TypesOf<typeof web.factors.startTotp>['reply'];

export function AddTotp({ onClose, onAdded }: AddProps) {
  const [started, setStarted] = useState<Started>();
  const start = useSend(web.factors.startTotp, { done: setStarted });
  if (started) return <ShowCode started={started} onClose={onClose} onAdded={onAdded} />;
  return (
    <Dialog open onClose={onClose} title={texts.addTotp}>
      <NameForm
        suggested={texts.totpName}
        send={start}
        action={texts.next}
        onClose={onClose}
        onName={(name) => start.mutate({ body: { name } })}
      />
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
      <Form error={confirm.error} fields={['code']} onSubmit={() => confirm.mutate({ params: { id }, body: { code } })}>
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
          name="code"
          required
          value={code}
          onChange={({ target }) => setCode(target.value)}
        />
        <DialogEnd send={confirm} onClose={onClose} action={texts.turnOn} />
      </Form>
    </Dialog>
  );
}
