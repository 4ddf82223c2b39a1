import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { PLANS, SUBSCRIPTION_STATUSES } from '@troupe/domain';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { day, planName } from '../../../format.ts';
import { admin as texts } from '../../../texts/account.ts';
import { states } from '../../../texts/common.ts';
import { adminFactors as factors } from '../../../texts/safety.ts';
import { Button } from '../../../ui/button.tsx';
import { Badge, Card, Status } from '../../../ui/card.tsx';
import { Confirm, Dialog, DialogEnd } from '../../../ui/dialog.tsx';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { Empty } from '../../../ui/states.tsx';
import { Pager, Table, type Column } from '../../../ui/table.tsx';
import { useSay } from '../../../ui/toast.tsx';

type User = TypesOf<typeof web.admin.listUsers>['reply']['users'][number];

const PAGE = 50;

const columnsOf = (setChanging: (user: User) => void, setResetting: (user: User) => void): Column<User>[] => [
  {
    key: 'email',
    header: texts.email,
    width: 30,
    cell: ({ email }) => <span className="break-all">{email}</span>,
  },
  { key: 'name', header: texts.name, free: true, cell: ({ name }) => name },
  {
    key: 'plan',
    header: texts.plan,
    cell: ({ plan, isAdmin, eraseAt }) => (
      <span className="inline-flex flex-wrap items-center gap-2">
        {plan ? planName(plan) : texts.noPlan}
        {isAdmin && <Badge tone="accent">{texts.title}</Badge>}
        {eraseAt && <Badge tone="danger">{texts.erased(day(eraseAt))}</Badge>}
      </span>
    ),
  },
  { key: 'status', header: texts.subscription, cell: (user) => <Status value={user.subscriptionStatus} /> },
  {
    key: 'second',
    header: factors.column,
    cell: (user) =>
      user.secondFactor ? (
        <Button small aria-label={`${factors.reset}: ${user.email}`} onClick={() => setResetting(user)}>
          {factors.on}
        </Button>
      ) : (
        <span className="text-ink-faint">{factors.off}</span>
      ),
  },
  { key: 'joined', header: texts.joined, cell: ({ createdAt }) => day(createdAt) },
  {
    key: 'change',
    header: '',
    end: true,
    cell: (user) => (
      <Button small aria-label={`${texts.change} ${user.email}`} onClick={() => setChanging(user)}>
        {texts.change}
      </Button>
    ),
  },
];

export function AdminUsers() {
  const [search, setSearch] = useState('');
  const [offset, setOffset] = useState(0);
  const read = useCall(
    web.admin.listUsers,
    { query: { limit: String(PAGE), offset: String(offset), ...(search && { search }) } },
    { keep: true },
  );
  const [changing, setChanging] = useState<User>();
  const [resetting, setResetting] = useState<User>();
  return (
    <Card title={texts.users} flush className="overflow-hidden">
      <div className="max-w-sm px-5 pb-4">
        <TextField
          label={texts.search}
          hideLabel
          type="search"
          placeholder={texts.search}
          value={search}
          onChange={({ target }) => {
            setSearch(target.value);
            setOffset(0);
          }}
        />
      </div>
      <Table
        label={texts.users}
        rows={read.data?.users}
        rowKey={({ id }) => id}
        error={read.error}
        retry={() => void read.refetch()}
        empty={<Empty title={search ? states.noMatch : texts.noUsers} />}
        columns={columnsOf(setChanging, setResetting)}
      />
      <Pager total={read.data?.total ?? 0} offset={offset} size={PAGE} onChange={setOffset} />
      {resetting && <ResetFactors user={resetting} onClose={() => setResetting(undefined)} />}
      {changing && <ChangePlan user={changing} onClose={() => setChanging(undefined)} />}
    </Card>
  );
}

function ResetFactors({ user, onClose }: { user: User; onClose: () => void }) {
  const say = useSay();
  const reset = useSend(web.factors.reset, {
    refresh: [web.admin.listUsers],
    done: () => {
      say(factors.done);
      onClose();
    },
  });
  return (
    <Confirm
      open
      onClose={onClose}
      title={factors.title(user.email)}
      losses={factors.loss}
      action={factors.reset}
      busy={reset.isPending}
      error={reset.error}
      onConfirm={() => reset.mutate({ params: { id: user.id } })}
    />
  );
}

function ChangePlan({ user, onClose }: { user: User; onClose: () => void }) {
  const [plan, setPlan] = useState<(typeof PLANS)[number]>(user.plan ?? 'solo');
  const [status, setStatus] = useState<(typeof SUBSCRIPTION_STATUSES)[number]>('active');
  const say = useSay();
  const save = useSend(web.admin.updateUser, {
    refresh: [web.admin.listUsers],
    done: () => {
      say(texts.granted);
      onClose();
    },
  });
  return (
    <Dialog open onClose={onClose} title={texts.changeTitle(user.email)} hint={texts.changeHint}>
      <Form
        error={save.error}
        fields={[]}
        onSubmit={() => save.mutate({ params: { id: user.id }, body: { plan, subscriptionStatus: status } })}
      >
        <SelectField
          label={texts.plan}
          value={plan}
          onChange={({ target }) => setPlan(target.value as typeof plan)}
          choices={PLANS.map((value) => ({ value, label: planName(value) }))}
        />
        <SelectField
          label={texts.subscription}
          value={status}
          onChange={({ target }) => setStatus(target.value as typeof status)}
          choices={SUBSCRIPTION_STATUSES.map((value) => ({ value, label: value.replace('_', ' ') }))}
        />
        <DialogEnd send={save} onClose={onClose} />
      </Form>
    </Dialog>
  );
}
