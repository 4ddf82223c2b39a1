import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { moment } from '../../../format.ts';
import { admin as texts } from '../../../texts/account.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Status } from '../../../ui/card.tsx';
import { Code } from '../../../ui/code.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { Empty } from '../../../ui/states.tsx';
import { Table, type Column } from '../../../ui/table.tsx';
import { Joining } from './joining.tsx';

const columnsOf = (): Column<TypesOf<typeof web.invites.list>['reply']['invites'][number]>[] => [
  {
    key: 'email',
    header: texts.email,
    sort: (invite) => invite.email ?? '',
    cell: (invite) => <span className="break-all">{invite.email ?? invite.name}</span>,
  },
  {
    key: 'status',
    header: texts.status,
    sort: ({ status }) => status,
    cell: ({ status }) => <Status value={status} />,
  },
  {
    key: 'created',
    header: texts.sent,
    sort: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => moment(createdAt),
  },
  { key: 'used', header: texts.used, cell: ({ usedAt }) => moment(usedAt) },
];

export function AdminInvites() {
  const read = useCall(web.invites.list, {});
  const [email, setEmail] = useState('');
  const send = useSend(web.invites.createByAdmin, { refresh: [web.invites.list], done: () => setEmail('') });
  return (
    <div className="flex flex-col gap-5">
      <Joining />
      <Card title={texts.inviteTitle} hint={texts.inviteHint}>
        <Form error={send.error} fields={[]} onSubmit={() => send.mutate({ body: { email } })}>
          <div className="flex flex-wrap items-end gap-3">
            <div className="w-full max-w-sm">
              <TextField
                label={texts.email}
                type="email"
                required
                value={email}
                onChange={({ target }) => setEmail(target.value)}
              />
            </div>
            <Button kind="primary" type="submit" busy={send.isPending}>
              {texts.invite}
            </Button>
          </div>
          <Refused error={send.error} />
          {send.data && <Code label={texts.invited(send.data.email)} text={send.data.inviteUrl} />}
        </Form>
      </Card>
      <Card title={texts.invites} flush className="overflow-hidden">
        <Table
          label={texts.invites}
          rows={read.data?.invites}
          rowKey={({ code, createdAt }) => `${code}-${createdAt}`}
          error={read.error}
          retry={() => void read.refetch()}
          find={({ email: address, name }) => `${address} ${name}`}
          empty={<Empty title={texts.noInvites} />}
          columns={columnsOf()}
        />
      </Card>
    </div>
  );
}
