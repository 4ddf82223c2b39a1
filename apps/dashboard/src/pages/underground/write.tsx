import { web } from '@troupe/contract';
import { useState } from 'react';
import { useSend } from '../../api.ts';
import { newId } from '../../ids.ts';
import { write as texts } from '../../texts/underground.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/card.tsx';
import { Dialog, DialogEnd } from '../../ui/dialog.tsx';
import { SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { useSay } from '../../ui/toast.tsx';
import { useAgentNames } from '../agents/agents/names.ts';
import { useBusSend, useLacksWallet } from './sending.ts';

export type Writes = 'message' | 'booking' | 'promotion';

/** The names of what is sent, and what goes into it. */
const FORMS: Record<Writes, { action: string; words: string; amount?: string }> = {
  message: { action: 'MESSAGE', words: 'text' },
  booking: { action: 'BOOKING_OFFER', words: 'talentName', amount: 'amount' },
  promotion: { action: 'AMPLIFY_REQUEST', words: 'content', amount: 'reward' },
};

/** One of the own agents says something to another one, or offers it something. */
export function Write({ kind, onClose }: { kind: Writes; onClose: () => void }) {
  const { choices } = useAgentNames();
  return (
    <Dialog open onClose={onClose} title={texts.titles[kind]} hint={texts.hints[kind]}>
      {choices.length === 0 ? <Notice tone="spot">{texts.needAgent}</Notice> : <Fields kind={kind} onClose={onClose} />}
    </Dialog>
  );
}

function Fields({ kind, onClose }: { kind: Writes; onClose: () => void }) {
  const { choices } = useAgentNames();
  const [chosen, setChosen] = useState('');
  const [to, setTo] = useState('');
  const [words, setWords] = useState('');
  const [amount, setAmount] = useState('');
  // A repeat of the same form counts once.
  const [id] = useState(newId);
  const say = useSay();
  const send = useBusSend(() => {
    say(texts.sent);
    onClose();
  });
  const from = chosen || choices[0]!.value;
  const lacksWallet = useLacksWallet(from);
  const form = FORMS[kind];
  const payload = { [form.words]: words, ...(form.amount && { [form.amount]: amount }) };
  return (
    <Form error={send.error} fields={[]} onSubmit={() => send.mutate({ from, to, action: form.action, payload, id })}>
      <SelectField
        label={texts.from}
        value={from}
        onChange={({ target }) => setChosen(target.value)}
        choices={choices}
      />
      <To value={to} onChange={setTo} />
      <TextArea
        label={texts.words[kind]}
        required
        rows={kind === 'booking' ? 1 : 4}
        dir="auto"
        value={words}
        onChange={({ target }) => setWords(target.value)}
      />
      {form.amount && (
        <TextField
          label={texts.amounts[form.amount] ?? form.amount}
          inputMode="decimal"
          required
          value={amount}
          onChange={({ target }) => setAmount(target.value)}
        />
      )}
      {lacksWallet && <MakeWallet agentId={from} />}
      <DialogEnd send={send} onClose={onClose} action={texts.send} />
    </Form>
  );
}

/** The own agents are suggested; anybody's may be named. */
function To({ value, onChange }: { value: string; onChange: (to: string) => void }) {
  const { choices } = useAgentNames();
  return (
    <>
      <TextField
        label={texts.to}
        hint={texts.toHint}
        list="known-agents"
        required
        value={value}
        onChange={({ target }) => onChange(target.value.trim())}
      />
      <datalist id="known-agents">
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </datalist>
    </>
  );
}

export function MakeWallet({ agentId }: { agentId: string }) {
  const say = useSay();
  const make = useSend(web.wallets.create, { refresh: [web.wallets.list], done: () => say(texts.walletMade) });
  return (
    <Notice tone="spot">
      <p className="mb-2">{texts.noWallet}</p>
      <Button small busy={make.isPending} onClick={() => make.mutate({ body: { agentId } })}>
        {texts.makeWallet}
      </Button>
    </Notice>
  );
}
