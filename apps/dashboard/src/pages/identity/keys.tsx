import { web, KEY_NAME_LENGTH } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useState } from 'react';
import type { FormEvent } from 'react';
import { useCall, useSend } from '../../api.ts';
import { ago, moment } from '../../format.ts';
import { keys as texts } from '../../texts/account.ts';
import { states } from '../../texts/common.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Notice } from '../../ui/card.tsx';
import { Code } from '../../ui/code.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { useSay } from '../../ui/toast.tsx';

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
  const [name, setName] = useState('');
  const [fresh, setFresh] = useState<string>();
  const [removing, setRemoving] = useState<Key>();
  const say = useSay();
  const create = useSend(web.keys.create, {
    refresh: [web.keys.list],
    done: ({ key }) => {
      setFresh(key);
      setName('');
    },
  });
  const remove = useSend(web.keys.remove, {
    refresh: [web.keys.list],
    done: () => {
      say(texts.deleted);
      setRemoving(undefined);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate({ body: { name } });
  };
  return (
    <Card title={texts.title} hint={texts.hint} flush className="overflow-hidden">
      <KeyForm submit={submit} name={name} setName={setName} create={create} />
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
  submit,
  name,
  setName,
  create,
}: {
  submit: (event: FormEvent) => void;
  name: string;
  setName: (value: string) => void;
  create: { isPending: boolean; error: Error | null };
}) {
  return (
    <form onSubmit={submit} className="flex flex-wrap items-end gap-3 px-5 pb-5">
      <div className="w-full max-w-sm">
        <TextField
          label={texts.name}
          placeholder={texts.namePlaceholder}
          maxLength={KEY_NAME_LENGTH}
          required
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </div>
      <Button kind="primary" type="submit" icon="plus" busy={create.isPending}>
        {texts.create}
      </Button>
      {create.error && <Notice tone="danger">{create.error.message}</Notice>}
    </form>
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
