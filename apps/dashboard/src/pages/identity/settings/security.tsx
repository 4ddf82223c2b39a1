import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { ago } from '../../../format.ts';
import { security as texts } from '../../../texts/account.ts';
import { FactorsCard } from '../factors/factors.tsx';
import { Button } from '../../../ui/button.tsx';
import { Badge, Card } from '../../../ui/card.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { Empty } from '../../../ui/states.tsx';
import { Table, type Column } from '../../../ui/table.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { NewPassword } from '../new-password.tsx';

export function Security() {
  return (
    <div className="flex flex-col gap-5">
      <FactorsCard />
      <PasswordCard />
      <SessionsCard />
    </div>
  );
}

function PasswordCard() {
  const [form, setForm] = useState({ currentPassword: '', newPassword: '' });
  const say = useSay();
  const send = useSend(web.settings.changePassword, {
    refresh: [web.session.list, web.factors.list],
    done: () => {
      setForm({ currentPassword: '', newPassword: '' });
      say(texts.changed);
    },
  });
  return (
    <Card title={texts.password} hint={texts.passwordHint}>
      <Form
        error={send.error}
        fields={['currentPassword', 'newPassword']}
        onSubmit={() => send.mutate({ body: form })}
        className="flex max-w-lg flex-col gap-4"
      >
        <TextField
          label={texts.current}
          name="currentPassword"
          type="password"
          autoComplete="current-password"
          required
          value={form.currentPassword}
          onChange={({ target }) => setForm({ ...form, currentPassword: target.value })}
        />
        <NewPassword
          label={texts.next}
          name="newPassword"
          value={form.newPassword}
          onChange={(newPassword) => setForm({ ...form, newPassword })}
        />
        <Refused error={send.error} />
        <div>
          <Button kind="primary" type="submit" busy={send.isPending}>
            {texts.change}
          </Button>
        </div>
      </Form>
    </Card>
  );
}

const columnsOf = (
  setEnding: (id: string) => void,
): Column<TypesOf<typeof web.session.list>['reply']['sessions'][number]>[] => [
  {
    key: 'device',
    header: texts.device,
    cell: ({ device, current }) => (
      <span className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 break-words">{device ?? '–'}</span>
        {current && <Badge tone="accent">{texts.thisOne}</Badge>}
      </span>
    ),
  },
  {
    key: 'ip',
    header: texts.ip,
    cell: ({ ip }) => <span className="font-mono text-[0.87rem]">{ip ?? '–'}</span>,
  },
  { key: 'seen', header: texts.lastSeen, cell: ({ lastSeen }) => ago(lastSeen) },
  {
    key: 'end',
    header: '',
    end: true,
    cell: ({ id, current }) =>
      !current && (
        <Button small kind="danger" onClick={() => setEnding(id)}>
          {texts.end}
        </Button>
      ),
  },
];

function SessionsCard() {
  const read = useCall(web.session.list, {});
  const [ending, setEnding] = useState<string>();
  const say = useSay();
  const end = useSend(web.session.end, {
    refresh: [web.session.list],
    done: () => {
      say(texts.ended);
      setEnding(undefined);
    },
  });
  return (
    <Card title={texts.sessions} flush className="overflow-hidden">
      <Table
        label={texts.sessions}
        rows={read.data?.sessions}
        rowKey={({ id }) => id}
        error={read.error}
        retry={() => void read.refetch()}
        empty={<Empty title={texts.none} />}
        columns={columnsOf(setEnding)}
      />
      <Confirm
        open={ending !== undefined}
        onClose={() => setEnding(undefined)}
        title={texts.endTitle}
        losses={texts.endLoss}
        action={texts.end}
        busy={end.isPending}
        error={end.error}
        onConfirm={() => ending && end.mutate({ params: { id: ending } })}
      />
    </Card>
  );
}
