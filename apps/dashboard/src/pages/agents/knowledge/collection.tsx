import { MAX_DOCUMENT_MB, web } from '@troupe/contract';
import type { KnowledgeCollection, KnowledgeDocument } from '@troupe/contract';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { call, stale, useCall, useSend } from '../../../api.ts';
import { ago } from '../../../format.ts';
import { collection as texts, knowledge } from '../../../texts/knowledge.ts';
import { useAsk } from '../../../ui/ask.ts';
import { Button } from '../../../ui/button.tsx';
import { Badge, Card, Notice } from '../../../ui/card.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { SelectField, TextArea, TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { Page } from '../../../ui/page.tsx';
import { Empty, Failure } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import type { Column } from '../../../ui/table.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { MeaningForm } from './meaning-form.tsx';
import { NameForm } from './name-form.tsx';
import { Search } from './search.tsx';

const back = { to: '/dashboard/knowledge', label: texts.back };
const SHOWN = 500;
const REFRESH = [web.knowledge.list, web.knowledge.listDocuments];

export function Collection({ id }: { id: string }) {
  const all = useCall(web.knowledge.list, {});
  const one = all.data?.collections.find((collection) => collection.id === id);
  if (!one)
    return (
      <Page title={knowledge.title} back={back}>
        {all.error && <Failure error={all.error} retry={() => void all.refetch()} />}
        {all.data && <Notice tone="spot">{knowledge.nothing}</Notice>}
      </Page>
    );
  return (
    <Page title={one.name} back={back} lead={<span dir="auto">{one.description}</span>}>
      <Documents id={id} />
      <Add id={id} />
      <Search collection={id} />
      <MeaningForm key={`${one.id} ${one.embeddings}`} one={one} />
      <Rename key={one.updatedAt} one={one} />
    </Page>
  );
}

function Documents({ id }: { id: string }) {
  const say = useSay();
  const read = useCall(web.knowledge.listDocuments, { params: { id }, query: { limit: String(SHOWN) } });
  const remove = useAsk(
    web.knowledge.removeDocument,
    (document: KnowledgeDocument) => ({ params: { id: document.id } }),
    { refresh: REFRESH, done: () => say(texts.removed) },
  );
  const again = useSend(web.knowledge.readAgain, { refresh: REFRESH });
  const total = read.data?.total ?? 0;
  return (
    <Card
      title={texts.documents}
      {...(total > SHOWN && { hint: texts.more(SHOWN, total) })}
      flush
      className="overflow-hidden"
    >
      {again.error && <Notice tone="danger">{again.error.message}</Notice>}
      <Table
        label={texts.documents}
        rows={read.data?.documents}
        rowKey={(document) => document.id}
        error={read.error}
        retry={() => void read.refetch()}
        find={({ name, title }) => `${name} ${title}`}
        empty={<Empty title={texts.empty} />}
        columns={columns({
          remove: remove.ask,
          again: (document) => again.mutate({ params: { id: document.id } }),
        })}
      />
      <Confirm
        {...remove.confirm}
        title={texts.removeTitle(remove.subject?.name ?? '')}
        losses={texts.removeLoss}
        action={texts.remove}
      />
    </Card>
  );
}

type Act = (document: KnowledgeDocument) => void;

const columns = ({ remove, again }: { remove: Act; again: Act }): Column<KnowledgeDocument>[] => [
  {
    key: 'name',
    header: texts.name,
    sort: ({ name }) => name,
    cell: ({ id, name, title, passages }) => (
      <>
        {passages > 0 ? (
          <Link to="/dashboard/knowledge" search={{ passage: `${id}.0` } as never} className="link font-medium">
            <span dir="auto">{name}</span>
          </Link>
        ) : (
          <span className="font-medium" dir="auto">
            {name}
          </span>
        )}
        {title !== null && (
          <span className="block text-[0.9rem] text-ink-soft" dir="auto">
            {title}
          </span>
        )}
      </>
    ),
  },
  {
    key: 'state',
    header: texts.state,
    free: true,
    cell: ({ state, error, notes, kind, passages }) => (
      <>
        <Badge tone={state === 'failed' ? 'danger' : state === 'ready' ? 'ok' : 'neutral'}>{texts.states[state]}</Badge>
        <span className="block pt-1 text-[0.85rem] text-ink-soft">
          {[passages > 0 && `${kind}, ${texts.size(passages)}`, error, ...notes].filter(Boolean).join('. ')}
        </span>
      </>
    ),
  },
  { key: 'read', header: texts.read, minor: true, cell: ({ readAt }) => ago(readAt) },
  {
    key: 'act',
    header: '',
    end: true,
    cell: (document) => (
      <span className="flex flex-wrap justify-end gap-2">
        {document.source === 'url' && (
          <Button small icon="restart" aria-label={`${texts.again} ${document.name}`} onClick={() => again(document)}>
            {texts.again}
          </Button>
        )}
        <Button small kind="danger" aria-label={`${texts.remove} ${document.name}`} onClick={() => remove(document)}>
          {texts.remove}
        </Button>
      </span>
    ),
  },
];

function Add({ id }: { id: string }) {
  const [tab, setTab] = useState('files');
  return (
    <Card title={texts.add} hint={texts.addHint(MAX_DOCUMENT_MB)}>
      <Tabs
        label={texts.add}
        value={tab}
        onChange={setTab}
        tabs={[
          { key: 'files', label: texts.tab, content: () => <Files id={id} /> },
          { key: 'address', label: texts.address, content: () => <Address id={id} /> },
          { key: 'text', label: texts.text, content: () => <Text id={id} /> },
        ]}
      />
    </Card>
  );
}

function Files({ id }: { id: string }) {
  const queries = useQueryClient();
  const input = useRef<HTMLInputElement>(null);
  const [problems, setProblems] = useState<string[]>([]);
  const [isBusy, setBusy] = useState(false);
  async function bring(files: readonly File[]): Promise<void> {
    setBusy(true);
    setProblems([]);
    for (const file of files) {
      try {
        const bytes = new Uint8Array(await file.arrayBuffer());
        await call(web.knowledge.upload, { params: { id }, query: { name: file.name.slice(-200) }, bytes });
      } catch (error) {
        setProblems((before) => [...before, `${file.name}: ${(error as Error).message}`]);
      }
    }
    await stale(queries, ...REFRESH);
    setBusy(false);
  }
  return (
    <div className="flex flex-col gap-4 pt-4">
      <div>
        <Button kind="primary" icon="plus" busy={isBusy} onClick={() => input.current?.click()}>
          {texts.files}
        </Button>
      </div>
      {problems.map((problem) => (
        <Notice key={problem} tone="danger">
          {problem}
        </Notice>
      ))}
      <input
        ref={input}
        type="file"
        hidden
        multiple
        aria-label={texts.files}
        onChange={({ target }) => {
          if (target.files?.length) void bring([...target.files]);
          target.value = '';
        }}
      />
    </div>
  );
}

const EVERY = { never: null, daily: 24, weekly: 168 } as const;

function Address({ id }: { id: string }) {
  const [url, setUrl] = useState('');
  const [every, setEvery] = useState<keyof typeof EVERY>('never');
  const send = useSend(web.knowledge.add, { refresh: REFRESH, done: () => setUrl('') });
  return (
    <Form
      error={send.error}
      fields={['url']}
      onSubmit={() => send.mutate({ params: { id }, body: { url: url.trim(), everyHours: EVERY[every] } })}
      className="flex flex-col gap-4 pt-4"
    >
      <TextField
        label={texts.address}
        hint={texts.addressHint}
        type="url"
        name="url"
        required
        value={url}
        onChange={({ target }) => setUrl(target.value)}
      />
      <SelectField
        label={texts.every}
        value={every}
        choices={(['never', 'daily', 'weekly'] as const).map((value) => ({ value, label: texts[value] }))}
        onChange={({ target }) => setEvery(target.value as keyof typeof EVERY)}
      />
      <Refused error={send.error} />
      <div>
        <Button kind="primary" type="submit" busy={send.isPending}>
          {texts.fetch}
        </Button>
      </div>
    </Form>
  );
}

function Text({ id }: { id: string }) {
  const [name, setName] = useState('');
  const [text, setText] = useState('');
  const send = useSend(web.knowledge.add, {
    refresh: REFRESH,
    done: () => {
      setName('');
      setText('');
    },
  });
  return (
    <Form
      error={send.error}
      fields={['name', 'text']}
      onSubmit={() => send.mutate({ params: { id }, body: { name, text } })}
      className="flex flex-col gap-4 pt-4"
    >
      <TextField
        label={texts.textName}
        name="name"
        required
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <TextArea
        label={texts.text}
        name="text"
        required
        rows={8}
        dir="auto"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <Refused error={send.error} />
      <div>
        <Button kind="primary" type="submit" busy={send.isPending}>
          {texts.addText}
        </Button>
      </div>
    </Form>
  );
}

function Rename({ one }: { one: KnowledgeCollection }) {
  const say = useSay();
  const send = useSend(web.knowledge.change, { refresh: REFRESH, done: () => say(texts.saved) });
  return (
    <Card title={texts.rename}>
      <NameForm given={one} error={send.error} onSubmit={(body) => send.mutate({ params: { id: one.id }, body })}>
        <Button type="submit" busy={send.isPending}>
          {texts.save}
        </Button>
      </NameForm>
    </Card>
  );
}
