import { createKey, deleteKey, listKeys } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../api.ts';
import { ago, moment } from '../../format.ts';
import { keys as texts } from '../../texts/account.ts';
import { states } from '../../texts/common.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Code } from '../../ui/code.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form, Refused } from '../../ui/form.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { useSay } from '../../ui/toast.tsx';

type Key = TypesOf<typeof listKeys>['reply']['keys'][number];

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
  const read = useCall(listKeys, {});
  const [name, setName] = useState('');
  const [fresh, setFresh] = useState<string>();
  const [removing, setRemoving] = useState<Key>();
  const say = useSay();
  const create = useSend(createKey, {
    refresh: [listKeys],
    done: ({ key }) => {
      setFresh(key);
      setName('');
    },
  });
  const remove = useSend(deleteKey, {
    refresh: [listKeys],
    done: () => {
      say(texts.deleted);
      setRemoving(undefined);
    },
  });
  return (
    <Card title={texts.title} hint={texts.hint} flush className="overflow-hidden">
      <KeyForm onSubmit={() => create.mutate({ body: { name } })} name={name} setName={setName} create={create} />
      <Table
        label={texts.title}
        rows={read.data?.keys}
        rowKey={({ id }) => id}
        error={read.error}
        retry={() => void read.refetch()}
        empty={<Empty title={texts.none}>{texts.noneHint}</Empty>}
        columns={columnsOf(setRemoving)}
      />
      <FreshKey fresh={fresh} setFresh={setFresh} />
      <Confirm
        open={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        title={texts.deleteTitle(removing?.name ?? '')}
        losses={texts.deleteLoss}
        action={states.delete}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => removing && remove.mutate({ params: { id: removing.id } })}
      />
    </Card>
  );
}

function KeyForm({
  onSubmit,
  name,
  setName,
  create,
}: {
  onSubmit: () => void;
  name: string;
  setName: (value: string) => void;
  create: { isPending: boolean; error: Error | null };
}) {
  return (
    <Form
      error={create.error}
      fields={['name']}
      onSubmit={onSubmit}
      className="flex flex-wrap items-end gap-3 px-5 pb-5"
    >
      <div className="w-full max-w-sm">
        <TextField
          label={texts.name}
          placeholder={texts.namePlaceholder}
          name="name"
          required
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </div>
      <Button kind="primary" type="submit" icon="plus" busy={create.isPending}>
        {texts.create}
      </Button>
      <Refused error={create.error} />
    </Form>
  );
}

/** A new key is shown once. */
function FreshKey({ fresh, setFresh }: { fresh: string | undefined; setFresh: (key: undefined) => void }) {
  return (
    <Dialog
      open={fresh !== undefined}
      onClose={() => setFresh(undefined)}
      title={texts.yourKey}
      hint={texts.shownOnce}
      wide
    >
      <div className="flex flex-col gap-4">
        <Code label={texts.yourKey} text={fresh ?? ''} />
        <Code label={texts.tryIt} text={`curl ${location.origin}/api/agents -H "Authorization: Bearer ${fresh}"`} />
        <div className="flex justify-end">
          <Button kind="primary" onClick={() => setFresh(undefined)}>
            {texts.done}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
