import { web } from '@troupe/contract';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { moment, exactMoney } from '../../../format.ts';
import { wallet as texts } from '../../../texts/money.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Figure, Figures, Notice } from '../../../ui/card.tsx';
import { Code } from '../../../ui/code.tsx';
import { Page } from '../../../ui/page.tsx';
import { Empty, Loaded } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { PaymentSessions } from '../payment-sessions.tsx';
import { TopUp } from '../topup.tsx';
import { Transactions } from './transactions.tsx';

export default function Wallet() {
  const { top_up: result } = useSearch({ strict: false });
  const read = useCall(web.wallet.get, { query: {} }, { every: 20_000 });
  const say = useSay();
  const create = useSend(web.wallet.post, { refresh: [web.wallet.get], done: () => say(texts.created) });
  return (
    <Page title={texts.title} lead={texts.lead}>
      {result === 'success' && <Notice tone="ok">{texts.topUpSuccess}</Notice>}
      {result === 'cancelled' && <Notice tone="spot">{texts.topUpCancelled}</Notice>}
      <Loaded from={read}>
        {(wallet) => {
          if ('hasWallet' in wallet && wallet.hasWallet) {
            return <OwnWallet address={wallet.address} network={wallet.network} />;
          }
          if ('agenticWallet' in wallet) return <Notice>{wallet.instructions}</Notice>;
          return (
            <Card>
              <Empty
                title={texts.none}
                action={
                  <Button
                    kind="primary"
                    busy={create.isPending}
                    onClick={() => create.mutate({ body: { action: 'create' } })}
                  >
                    {texts.create}
                  </Button>
                }
              >
                {texts.noneHint}
              </Empty>
              {create.error && <Notice tone="danger">{create.error.message}</Notice>}
            </Card>
          );
        }}
      </Loaded>
    </Page>
  );
}

function OwnWallet({ address, network }: { address: string; network: string }) {
  const [onChain, setOnChain] = useState(false);
  const ledger = useCall(web.ledger.get, { query: { address } }, { every: 10_000 });
  const aside = ledger.data ? Number(ledger.data.balance) - Number(ledger.data.available) : 0;
  return (
    <>
      <Figures>
        <Figure label={texts.ledger} value={ledger.data ? exactMoney(ledger.data.balance) : '–'} />
        <Figure
          label={texts.available}
          value={ledger.data ? exactMoney(ledger.data.available) : '–'}
          note={aside > 0 && texts.setAside(exactMoney(aside.toFixed(6)))}
        />
        <Figure label={texts.network} value={<span className="text-[1.2rem]">{network}</span>} />
      </Figures>
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <TopUp address={address} />
        <Card title={texts.address} hint={texts.addressHint}>
          <Code label={texts.address} text={address} />
        </Card>
      </div>
      <Card title={texts.entries} flush className="overflow-hidden">
        <Table
          label={texts.entries}
          rows={ledger.data?.entries}
          rowKey={({ id }) => id}
          error={ledger.error}
          retry={() => void ledger.refetch()}
          empty={<Empty title={texts.noEntries} />}
          columns={[
            { key: 'when', header: texts.when, cell: ({ timestamp }) => moment(timestamp) },
            { key: 'what', header: texts.what, cell: ({ kind }) => texts.kinds[kind] ?? kind.replaceAll('_', ' ') },
            { key: 'amount', header: texts.amount, end: true, cell: ({ amount }) => exactMoney(amount) },
            { key: 'balance', header: texts.after, end: true, cell: (entry) => exactMoney(entry.balance) },
          ]}
        />
      </Card>
      <PaymentSessions address={address} />
      {onChain ? (
        <>
          <Tokens address={address} />
          <Transactions address={address} />
        </>
      ) : (
        <div>
          <Button icon="search" onClick={() => setOnChain(true)}>
            {texts.look}
          </Button>
        </div>
      )}
    </>
  );
}

function Tokens({ address }: { address: string }) {
  const read = useCall(web.wallet.get, { query: { address } }, { retry: false });
  const tokens = read.data && 'allTokens' in read.data ? read.data.allTokens : undefined;
  return (
    <Card title={texts.tokens} flush className="overflow-hidden">
      {read.error ? (
        <p className="px-5 pb-5 text-ink-soft">{texts.noChain}</p>
      ) : (
        <Table
          label={texts.tokens}
          rows={tokens}
          rowKey={({ address: token }) => token}
          empty={<Empty title={texts.noTokens} />}
          columns={[
            { key: 'token', header: texts.token, cell: ({ symbol, name }) => <span title={name}>{symbol}</span> },
            { key: 'amount', header: texts.amount, end: true, cell: ({ balance }) => exactMoney(balance) },
          ]}
        />
      )}
    </Card>
  );
}
