import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../api.ts';
import { ago, moment } from '../../format.ts';
import { keys as texts } from '../../texts/account.ts';
import { states } from '../../texts/common.ts';
import { useAsk } from '../../ui/ask.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form, Refused } from '../../ui/form.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { useSay } from '../../ui/toast.tsx';
import { FreshKey } from './fresh-key.tsx';

type Key = TypesOf<typeof web.keys.list>['reply']['keys'][number];

const columnsOf = (setRemoving: (key: Key) => void): Column<Key>[] => [
  { key: 'name', header: texts.name, cell: (key) => <span className="font-medium">{key.name}</span> },
  {
    key: 'preview',
    header: texts.preview,
    cell: ({ keyPreview }) => <code className="text-[0.87rem]">{keyPreview}</code>,
  },
  { key: 'created', header: texts.created, cell: ({ createdAt }) => moment(createdAt) },
  { key: 'used', header: texts.lastUsed, cell: ({ lastUsed }) => (lastUsed ? ago(lastUsed) : states.never) },
  {
    key: 'delete',
    header: '',
    end: true,
    cell: (key) => (
      <Button small kind="danger" onClick={() => setRemoving(key)}>
        {states.delete}
      </Button>
    ),
  },
];

export function Keys() {
  const read = useCall(web.keys.list, {});
  const [fresh, setFresh] = useState<string>();
  const say = useSay();
  const remove = useAsk(web.keys.remove, ({ id }: Key) => ({ params: { id } }), {
    refresh: [web.keys.list],
    done: () => say(texts.deleted),
  });
  return (
    <Card title={texts.title} hint={texts.hint} flush className="overflow-hidden">
      <KeyForm onCreated={setFresh} />
      <Table
        label={texts.title}
        rows={read.data?.keys}
        rowKey={({ id }) => id}
        error={read.error}
        retry={() => void read.refetch()}
        empty={<Empty title={texts.none}>{texts.noneHint}</Empty>}
        columns={columnsOf(remove.ask)}
      />
      <FreshKey
        title={texts.yourKey}
        hint={texts.shownOnce}
        secret={fresh}
        example={{
          label: texts.tryIt,
          text: `curl ${location.origin}/api/agents -H "Authorization: Bearer ${fresh}"`,
        }}
        onClose={() => setFresh(undefined)}
      />
      <Confirm
        {...remove.confirm}
        title={texts.deleteTitle(remove.subject?.name ?? '')}
        losses={texts.deleteLoss}
        action={states.delete}
      />
    </Card>
  );
}

function KeyForm({ onCreated }: { onCreated: (key: string) => void }) {
  const [name, setName] = useState('');
  const create = useSend(web.keys.create, {
    refresh: [web.keys.list],
    done: ({ key }) => {
      onCreated(key);
      setName('');
    },
  });
  return (
    <Form
      error={create.error}
      fields={[]}
      onSubmit={() => create.mutate({ body: { name } })}
      className="flex flex-wrap items-end gap-3 px-5 pb-5"
    >
      <div className="w-full max-w-sm">
        <TextField
          label={texts.name}
          placeholder={texts.namePlaceholder}
          required
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </div>
      <Button kind="primary" type="submit" icon="plus" busy={create.isPending}>
        {texts.create}
      </Button>
      <div className="basis-full empty:hidden">
        <Refused error={create.error} />
      </div>
    </Form>
  );
}
