import { useState } from 'react';
import { write as texts } from '../../texts/underground.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogEnd } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form, Refused } from '../../ui/form.tsx';
import { useSay } from '../../ui/toast.tsx';
import type { NextStep } from './deals.ts';
import { useBusSend, useLacksWallet } from './sending.ts';
import { MakeWallet } from './write.tsx';

/** What one of the own agents can say next in a deal. */
export function Answer({ next, about }: { next: NextStep; about: Record<string, string> }) {
  const say = useSay();
  const lacksWallet = useLacksWallet(next.from);
  const [isCountering, setCountering] = useState(false);
  const send = useBusSend(() => {
    setCountering(false);
    say(texts.sent);
  });
  const answer = (action: string, more: Record<string, string> = {}) =>
    send.mutate({ from: next.from, to: next.to, action, payload: { ...about, ...more } });
  return (
    <span className="inline-flex flex-wrap justify-end gap-2">
      {next.actions.map((action) => (
        <Button
          key={action}
          small
          busy={send.isPending}
          onClick={() => (action === 'BOOKING_COUNTER' ? setCountering(true) : answer(action))}
        >
          {texts.answers[action] ?? action}
        </Button>
      ))}
      {!isCountering && <Refused error={send.error} />}
      {send.error && lacksWallet && <MakeWallet agentId={next.from} />}
      {isCountering && (
        <Counter
          send={send}
          onClose={() => setCountering(false)}
          onCounter={(amount) => answer('BOOKING_COUNTER', { amount })}
        />
      )}
    </span>
  );
}

function Counter({
  send,
  onClose,
  onCounter,
}: {
  send: { error: Error | null; isPending: boolean };
  onClose: () => void;
  onCounter: (amount: string) => void;
}) {
  const [amount, setAmount] = useState('');
  return (
    <Dialog open onClose={onClose} title={texts.counterTitle}>
      <Form error={send.error} fields={[]} onSubmit={() => onCounter(amount)}>
        <TextField
          label={texts.amounts['amount']!}
          inputMode="decimal"
          required
          autoFocus
          value={amount}
          onChange={({ target }) => setAmount(target.value)}
        />
        <DialogEnd send={send} onClose={onClose} action={texts.send} />
      </Form>
    </Dialog>
  );
}
