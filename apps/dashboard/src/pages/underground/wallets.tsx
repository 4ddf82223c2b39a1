import { web } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../api.ts';
import { address as shortAddress, exactMoney } from '../../format.ts';
import { underground as texts } from '../../texts/underground.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Notice } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/code.tsx';
import { SelectField } from '../../ui/field.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useSay } from '../../ui/toast.tsx';
import { useAgentNames } from '../agents/agents/names.ts';

export function AgentWallets() {
  const { nameOf, choices } = useAgentNames();
  const [chosen, setChosen] = useState('');
  const agentId = chosen || choices[0]?.value || '';
  const read = useCall(web.wallets.list, {}, { every: 20_000 });
  const say = useSay();
  const make = useSend(web.wallets.create, {
    refresh: [web.wallets.list],
    done: () => say(texts.walletMade),
  });
  return (
    <Card title={texts.wallets} flush className="overflow-hidden">
      {choices.length > 0 && (
        <div className="flex flex-wrap items-end gap-3 px-5 pb-5">
          <div className="w-60">
            <SelectField
              label={texts.agent}
              value={agentId}
              onChange={({ target }) => setChosen(target.value)}
              choices={choices}
            />
          </div>
          <Button busy={make.isPending} onClick={() => make.mutate({ body: { agentId } })}>
            {texts.makeWallet}
          </Button>
          {make.error && <Notice tone="danger">{make.error.message}</Notice>}
        </div>
      )}
      <Table
        label={texts.wallets}
        rows={read.data?.wallets}
        rowKey={({ address, agentId: owner }) => `${owner}-${address}`}
        error={read.error}
        retry={() => void read.refetch()}
        empty={<Empty title={texts.noWallets} />}
        columns={[
          { key: 'agent', header: texts.agent, cell: (row) => nameOf(row.agentId) },
          {
            key: 'address',
            header: texts.address,
            cell: ({ address }) => (
              <span className="inline-flex items-center gap-2">
                <code className="text-[0.85rem]" title={address}>
                  {shortAddress(address)}
                </code>
                <CopyButton text={address} />
              </span>
            ),
          },
          { key: 'kind', header: texts.kind, cell: ({ kind }) => kind },
          { key: 'available', header: texts.available, end: true, cell: ({ available }) => exactMoney(available) },
          { key: 'owed', header: texts.owed, end: true, cell: ({ owed }) => exactMoney(owed) },
        ]}
      />
    </Card>
  );
}
