import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useMemo, useState } from 'react';
import { useCall, useSend } from '../../api.ts';
import { memory as texts } from '../../texts/agents.ts';
import { states } from '../../texts/common.ts';
import { useAsk } from '../../ui/ask.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { cx } from '../../ui/cx.ts';
import { Confirm, Dialog, DialogEnd } from '../../ui/dialog.tsx';
import { TextArea, TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { useSay } from '../../ui/toast.tsx';
import { MemoryCare } from './memory-care.tsx';
import { firstWords } from './memory-title.ts';

interface Entry {
  key: string;
  value: string;
  /** What people read: the key, or the first words of what the agent kept without one. */
  title: string;
  isUnnamed: boolean;
}

const NEW: Entry = { key: '', value: '', title: '', isUnnamed: false };

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

function entriesOf({ memory, unnamed }: TypesOf<typeof web.memory.get>['reply']): Entry[] {
  const ids = new Set(unnamed);
  return Object.entries(memory).map(([key, content]) => {
    const value = asText(content);
    const isUnnamed = ids.has(key);
    return { key, value, isUnnamed, title: isUnnamed ? firstWords(value) : key };
  });
}

const columnsOf = (setEditing: (entry: Entry) => void, setRemoving: (entry: Entry) => void): Column<Entry>[] => [
  {
    key: 'key',
    header: texts.key,
    width: 26,
    sort: ({ title }) => title,
    cell: ({ title, isUnnamed }) => (
      <span className={cx('break-words', isUnnamed ? 'text-ink-soft' : 'font-medium')} dir="auto">
        {title}
      </span>
    ),
  },
  {
    key: 'value',
    header: texts.value,
    cell: ({ value }) => (
      <span className="line-clamp-4 break-words whitespace-pre-wrap" dir="auto">
        {value}
      </span>
    ),
  },
  {
    key: 'edit',
    header: '',
    end: true,
    width: 14,
    cell: (entry) => (
      <span className="inline-flex items-center gap-1">
        <Button small aria-label={texts.editTitle(entry.title)} onClick={() => setEditing(entry)}>
          {texts.edit}
        </Button>
        <IconButton icon="trash" label={texts.deleteTitle(entry.title)} onClick={() => setRemoving(entry)} />
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
  const entries = useMemo(() => read.data && entriesOf(read.data), [read.data]);
  return (
    <div className="flex flex-col gap-6">
      <Card
        title={texts.title}
        hint={texts.hint}
        flush
        className="overflow-hidden"
        actions={
          <Button kind="primary" icon="plus" onClick={() => setEditing(NEW)}>
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
          find={({ title, value }) => `${title} ${value}`}
          findLabel={texts.search}
          empty={<Empty title={texts.empty}>{texts.emptyHint}</Empty>}
          columns={columnsOf(setEditing, forget.ask)}
        />
        <Confirm
          {...forget.confirm}
          title={texts.deleteTitle(forget.subject?.title ?? '')}
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
    <Dialog open onClose={onClose} title={entry.key ? texts.editTitle(entry.title) : texts.add}>
      <Form
        error={save.error}
        fields={['key', 'memory']}
        onSubmit={() => save.mutate({ body: { agentId, key, memory: value } })}
      >
        {!entry.isUnnamed && (
          <TextField
            label={texts.key}
            hint={texts.keyHint}
            name="key"
            required
            disabled={entry.key !== ''}
            value={key}
            onChange={({ target }) => setKey(target.value)}
          />
        )}
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
