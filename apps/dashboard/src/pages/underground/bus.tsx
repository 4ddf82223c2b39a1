import { web } from '@troupe/contract';
import { useState } from 'react';
import { useCall } from '../../api.ts';
import { exactMoney, moment } from '../../format.ts';
import { underground as texts, write } from '../../texts/underground.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Status } from '../../ui/card.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useAgentNames } from '../agents/agents/names.ts';
import { Answer } from './answer.tsx';
import { nextOfBooking, nextOfPromotion } from './deals.ts';
import { Write } from './write.tsx';
import type { Writes } from './write.tsx';

export function Bus() {
  const { nameOf } = useAgentNames();
  const read = useCall(web.bus.list, { query: { limit: '200' } }, { every: 10_000 });
  return (
    <Card title={texts.bus} flush className="overflow-hidden" actions={<Begin kind="message" />}>
      <Table
        label={texts.bus}
        rows={read.data?.messages}
        rowKey={({ id }) => id}
        error={read.error}
        retry={() => void read.refetch()}
        find={({ action, fromAgentId, toAgentId }) => `${action} ${nameOf(fromAgentId)} ${nameOf(toAgentId)}`}
        empty={<Empty title={texts.noMessages}>{texts.noMessagesHint}</Empty>}
        columns={[
          {
            key: 'action',
            header: texts.action,
            cell: ({ action }) => <span title={action}>{texts.actions[action] ?? action}</span>,
          },
          { key: 'from', header: texts.from, free: true, cell: ({ fromAgentId }) => nameOf(fromAgentId) },
          { key: 'to', header: texts.to, free: true, cell: ({ toAgentId }) => nameOf(toAgentId) },
          {
            key: 'status',
            header: texts.status,
            cell: ({ status, error }) => (
              <span title={error ?? undefined}>
                <Status value={status} />
              </span>
            ),
          },
          {
            key: 'when',
            header: texts.when,
            sort: ({ createdAt }) => createdAt,
            cell: ({ createdAt }) => moment(createdAt),
          },
        ]}
      />
    </Card>
  );
}

export function Bookings() {
  const { agents, nameOf } = useAgentNames();
  const isOwn = (agentId: string) => agents.some(({ id }) => id === agentId);
  const read = useCall(web.negotiation.listBookings, { query: { limit: '200' } }, { every: 10_000 });
  return (
    <Card title={texts.bookings} flush className="overflow-hidden" actions={<Begin kind="booking" />}>
      <Table
        label={texts.bookings}
        rows={read.data?.bookings}
        rowKey={({ id }) => id}
        error={read.error}
        retry={() => void read.refetch()}
        empty={<Empty title={texts.noBookings}>{texts.noBookingsHint}</Empty>}
        columns={[
          { key: 'talent', header: texts.talent, sort: (row) => row.talentName, cell: (row) => row.talentName },
          { key: 'from', header: texts.from, free: true, cell: ({ fromAgentId }) => nameOf(fromAgentId) },
          { key: 'to', header: texts.to, free: true, cell: ({ toAgentId }) => nameOf(toAgentId) },
          { key: 'amount', header: texts.amount, end: true, cell: ({ amount }) => exactMoney(amount) },
          { key: 'status', header: texts.status, cell: ({ status }) => <Status value={status} /> },
          { key: 'by', header: texts.lastBy, cell: ({ lastBy }) => nameOf(lastBy) },
          { key: 'when', header: texts.when, cell: ({ updatedAt }) => moment(updatedAt) },
          {
            key: 'answer',
            header: write.answer,
            end: true,
            cell: (row) => {
              const next = nextOfBooking(row, isOwn);
              return next && <Answer next={next} about={{ bookingId: row.id }} />;
            },
          },
        ]}
      />
    </Card>
  );
}

export function Amplifications() {
  const { agents, nameOf } = useAgentNames();
  const isOwn = (agentId: string) => agents.some(({ id }) => id === agentId);
  const read = useCall(web.negotiation.listAmplifications, { query: { limit: '200' } }, { every: 10_000 });
  return (
    <Card title={texts.amplify} flush className="overflow-hidden" actions={<Begin kind="promotion" />}>
      <Table
        label={texts.amplify}
        rows={read.data?.requests}
        rowKey={({ id }) => id}
        error={read.error}
        retry={() => void read.refetch()}
        empty={<Empty title={texts.noAmplify}>{texts.noAmplifyHint}</Empty>}
        columns={[
          {
            key: 'content',
            header: texts.content,
            cell: ({ content }) => <span className="line-clamp-2">{content}</span>,
          },
          { key: 'from', header: texts.from, free: true, cell: ({ fromAgentId }) => nameOf(fromAgentId) },
          { key: 'to', header: texts.to, free: true, cell: ({ toAgentId }) => nameOf(toAgentId) },
          { key: 'reward', header: texts.reward, end: true, cell: ({ reward }) => exactMoney(reward) },
          { key: 'status', header: texts.status, cell: ({ status }) => <Status value={status} /> },
          { key: 'when', header: texts.when, cell: ({ updatedAt }) => moment(updatedAt) },
          {
            key: 'answer',
            header: write.answer,
            end: true,
            cell: (row) => {
              const next = nextOfPromotion(row, isOwn);
              return next && <Answer next={next} about={{ requestId: row.id }} />;
            },
          },
        ]}
      />
    </Card>
  );
}

/** Begins something new between agents. */
function Begin({ kind }: { kind: Writes }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="primary" icon="plus" onClick={() => setOpen(true)}>
        {write.new[kind]}
      </Button>
      {isOpen && <Write kind={kind} onClose={() => setOpen(false)} />}
    </>
  );
}
