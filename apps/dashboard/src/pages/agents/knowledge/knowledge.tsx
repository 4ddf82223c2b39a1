import { web } from '@troupe/contract';
import type { KnowledgeCollection } from '@troupe/contract';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { knowledge as texts } from '../../../texts/knowledge.ts';
import { useAsk } from '../../../ui/ask.ts';
import { Button } from '../../../ui/button.tsx';
import { Badge, Card } from '../../../ui/card.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { Page } from '../../../ui/page.tsx';
import { Empty, Failure } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import type { Column } from '../../../ui/table.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { Collection } from './collection.tsx';
import { NameForm } from './name-form.tsx';
import { PassageView } from './passage.tsx';
import { Search } from './search.tsx';

export default function Knowledge() {
  const { collection, passage } = useSearch({ strict: false }) as { collection?: string; passage?: string };
  if (passage !== undefined) return <PassageView key={passage} place={passage} />;
  return collection === undefined ? <Collections /> : <Collection key={collection} id={collection} />;
}

function Collections() {
  const read = useCall(web.knowledge.list, {});
  const say = useSay();
  const remove = useAsk(web.knowledge.remove, ({ id }: KnowledgeCollection) => ({ params: { id } }), {
    refresh: [web.knowledge.list],
    done: () => say(texts.removed),
  });
  return (
    <Page title={texts.title} lead={texts.lead}>
      {read.error && <Failure error={read.error} retry={() => void read.refetch()} />}
      <Card title={texts.collections} hint={texts.collectionsHint} flush className="overflow-hidden">
        <Table
          label={texts.collections}
          rows={read.data?.collections}
          rowKey={({ id }) => id}
          find={({ name, description }) => `${name} ${description}`}
          empty={<Empty title={texts.empty}>{texts.emptyHint}</Empty>}
          columns={columns(remove.ask)}
        />
      </Card>
      <Create />
      {(read.data?.collections.length ?? 0) > 0 && <Search />}
      <Confirm
        {...remove.confirm}
        title={texts.removeTitle(remove.subject?.name ?? '')}
        losses={texts.removeLoss}
        action={texts.remove}
      />
    </Page>
  );
}

const columns = (onRemove: (one: KnowledgeCollection) => void): Column<KnowledgeCollection>[] => [
  {
    key: 'name',
    header: texts.name,
    sort: ({ name }) => name,
    cell: ({ id, name, description }) => (
      <>
        <Link to="/dashboard/knowledge" search={{ collection: id } as never} className="link font-medium">
          <span dir="auto">{name}</span>
        </Link>
        <span className="block max-w-[60ch] text-[0.9rem] text-ink-soft" dir="auto">
          {description}
        </span>
      </>
    ),
  },
  {
    key: 'documents',
    header: texts.documents,
    cell: ({ documents, waiting, failed }) => (
      <span className="flex flex-wrap items-center gap-2">
        {documents}
        {waiting > 0 && <Badge>{texts.waiting(waiting)}</Badge>}
        {failed > 0 && <Badge tone="danger">{texts.failed(failed)}</Badge>}
      </span>
    ),
  },
  { key: 'passages', header: texts.passages, minor: true, cell: ({ passages }) => passages.toLocaleString() },
  {
    key: 'agents',
    header: texts.usedBy,
    free: true,
    cell: ({ agents }) => (agents.length === 0 ? texts.nobody : agents.map(({ name }) => name).join(', ')),
  },
  {
    key: 'remove',
    header: '',
    end: true,
    cell: (one) => (
      <Button small kind="danger" aria-label={`${texts.remove} ${one.name}`} onClick={() => onRemove(one)}>
        {texts.remove}
      </Button>
    ),
  },
];

function Create() {
  const [made, setMade] = useState(0);
  const send = useSend(web.knowledge.create, {
    refresh: [web.knowledge.list],
    done: () => setMade((before) => before + 1),
  });
  return (
    <Card title={texts.create}>
      <NameForm key={made} error={send.error} onSubmit={(body) => send.mutate({ body })}>
        <Button kind="primary" icon="plus" type="submit" busy={send.isPending}>
          {texts.create}
        </Button>
      </NameForm>
    </Card>
  );
}
