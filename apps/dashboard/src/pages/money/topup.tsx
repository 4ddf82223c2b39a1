import { web } from '@troupe/contract';
import { useState } from 'react';
import type { FormEvent } from 'react';
import { useSend } from '../../api.ts';
import { money } from '../../format.ts';
import { wallet as texts } from '../../texts/money.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Notice } from '../../ui/card.tsx';
import { Segments } from '../../ui/tabs.tsx';

/** In cents, as the processor is asked for them. */
const AMOUNTS = ['500', '1000', '2500', '5000'] as const;
type Amount = (typeof AMOUNTS)[number];

export function TopUp({ address }: { address: string }) {
  const [amount, setAmount] = useState<Amount>('1000');
  const start = useSend(web.topup.start, { done: ({ url }) => location.assign(url) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    start.mutate({ query: { amount, address } });
  };
  return (
    <Card title={texts.topUp} hint={texts.topUpHint}>
      <form onSubmit={submit} className="flex flex-wrap items-center gap-3">
        <Segments
          label={texts.topUpAmount}
          value={amount}
          onChange={(next) => setAmount(next as Amount)}
          choices={AMOUNTS.map((value) => ({ value, label: money(Number(value) / 100).replace('.00', '') }))}
        />
        <Button kind="primary" type="submit" busy={start.isPending || start.isSuccess}>
          {texts.topUpGo}
        </Button>
        {start.error && (
          <div className="basis-full">
            <Notice tone="danger">{start.error.message}</Notice>
          </div>
        )}
      </form>
    </Card>
  );
}
