import { web } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../api.ts';
import { memory as texts } from '../../texts/agents.ts';
import { states } from '../../texts/common.ts';
import { useAsk } from '../../ui/ask.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Confirm, Dialog, DialogEnd } from '../../ui/dialog.tsx';
import { TextArea, TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { useSay } from '../../ui/toast.tsx';
import { MemoryCare } from './memory-care.tsx';

interface Entry {
  key: string;
  value: string;
}

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

const columnsOf = (setEditing: (entry: Entry) => void, setRemoving: (entry: Entry) => void): Column<Entry>[] => [
  {
    key: 'key',
    header: texts.key,
    width: 26,
    sort: ({ key }) => key,
    cell: ({ key }) => <span className="font-medium break-words">{key}</span>,
  },
  {
    key: 'value',
    header: texts.value,
    cell: ({ value }) => <span className="line-clamp-4 break-words whitespace-pre-wrap">{value}</span>,
  },
  {
    key: 'edit',
    header: '',
    end: true,
    width: 14,
    cell: (entry) => (
      <span className="inline-flex items-center gap-1">
        <Button small aria-label={texts.editTitle(entry.key)} onClick={() => setEditing(entry)}>
          {texts.edit}
        </Button>
        <IconButton icon="trash" label={texts.deleteTitle(entry.key)} onClick={() => setRemoving(entry)} />
      </span>
    ),
  },
];

export function MemoryTab({ agentId }: { agentId: string }) {
  const read = useCall(web.memory.get, { query: { agentId } }, { every: 20_000 });
  const [editing, setEditing] = useState<Entry>();
  const say = useSay();
  const forget = useAsk(web.memory.forget, ({ key }: Entry) => ({ body: { agentId, key } }), {
    refresh: [web.memory.get],
    done: () => say(texts.deleted),
  });
  const entries =
    read.data && Object.entries(read.data.memory).map(([key, value]): Entry => ({ key, value: asText(value) }));
  return (
    <div className="flex flex-col gap-6">
      <Card
        title={texts.title}
        hint={texts.hint}
        flush
        className="overflow-hidden"
        actions={
          <Button kind="primary" icon="plus" onClick={() => setEditing({ key: '', value: '' })}>
            {texts.add}
          </Button>
        }
      >
        <Table
          label={texts.title}
          rows={entries}
          rowKey={({ key }) => key}
          error={read.error}
          retry={() => void read.refetch()}
          find={({ key, value }) => `${key} ${value}`}
          findLabel={texts.search}
          empty={<Empty title={texts.empty}>{texts.emptyHint}</Empty>}
          columns={columnsOf(setEditing, forget.ask)}
        />
        <Confirm
          {...forget.confirm}
          title={texts.deleteTitle(forget.subject?.key ?? '')}
          losses={texts.deleteLoss}
          action={states.delete}
        />
      </Card>
      <MemoryCare agentId={agentId} />
      {editing && <MemoryForm agentId={agentId} entry={editing} onClose={() => setEditing(undefined)} />}
    </div>
  );
}

function MemoryForm({ agentId, entry, onClose }: { agentId: string; entry: Entry; onClose: () => void }) {
  const [key, setKey] = useState(entry.key);
  const [value, setValue] = useState(entry.value);
  const say = useSay();
  const save = useSend(web.memory.put, {
    refresh: [web.memory.get],
    done: () => {
      say(texts.saved);
      onClose();
    },
  });
  return (
    <Dialog open onClose={onClose} title={entry.key ? texts.editTitle(entry.key) : texts.add}>
      <Form
        error={save.error}
        fields={['key', 'memory']}
        onSubmit={() => save.mutate({ body: { agentId, key, memory: value } })}
      >
        <TextField
          label={texts.key}
          name="key"
          required
          disabled={entry.key !== ''}
          value={key}
          onChange={({ target }) => setKey(target.value)}
        />
        <TextArea
          label={texts.value}
          name="memory"
          required
          rows={6}
          value={value}
          onChange={({ target }) => setValue(target.value)}
        />
        <DialogEnd send={save} onClose={onClose} />
      </Form>
    </Dialog>
  );
}
