import { web } from '@troupe/contract';
import { useCall } from '../../../api.ts';
import { address as shortAddress, moment } from '../../../format.ts';
import { wallet as texts } from '../../../texts/money.ts';
import { Badge, Card } from '../../../ui/card.tsx';
import { Empty } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';

export function Transactions({ address }: { address: string }) {
  const read = useCall(web.wallet.listTransactions, { query: { address } }, { retry: false });
  return (
    <Card
      title={texts.transactions}
      flush
      className="overflow-hidden"
      actions={
        read.data?.explorerUrl && (
          <a className="link text-[0.9rem]" href={read.data.explorerUrl} target="_blank" rel="noreferrer">
            {texts.explorer}
          </a>
        )
      }
    >
      {read.error ? (
        <p className="px-5 pb-5 text-ink-soft">{texts.noChain}</p>
      ) : (
        <Table
          label={texts.transactions}
          rows={read.data?.transactions}
          rowKey={({ hash, direction, symbol }) => `${hash}-${direction}-${symbol}`}
          empty={<Empty title={texts.noTransactions} />}
          columns={[
            { key: 'when', header: texts.when, cell: ({ timestamp }) => moment(timestamp) },
            {
              key: 'what',
              header: texts.what,
              cell: ({ direction }) => (
                <Badge tone={direction === 'in' ? 'ok' : 'neutral'}>{texts.direction[direction]}</Badge>
              ),
            },
            {
              key: 'other',
              header: texts.other,
              cell: ({ direction, from, to }) => (
                <code className="text-[0.85rem]" title={direction === 'in' ? from : to}>
                  {shortAddress(direction === 'in' ? from : to)}
                </code>
              ),
            },
            { key: 'amount', header: texts.amount, end: true, cell: ({ amount, symbol }) => `${amount} ${symbol}` },
          ]}
        />
      )}
    </Card>
  );
}
