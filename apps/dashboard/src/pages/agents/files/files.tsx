import { web } from '@troupe/contract';
import type { FileEntry, TypesOf } from '@troupe/contract';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useQueryClient } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { lazy, Suspense, useRef, useState } from 'react';
import type { DragEvent } from 'react';
import { call, stale, urlOf, useCall, useSend } from '../../../api.ts';
import { ago, bytes } from '../../../format.ts';
import { files as texts } from '../../../texts/talk.ts';
import { Button, IconButton, SaveButton } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { cx } from '../../../ui/cx.ts';
import { Confirm } from '../../../ui/dialog.tsx';
import { Icon } from '../../../ui/icons.tsx';
import { Empty } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { fileUrl } from '../conversations/attach.tsx';
import { inside, nameOf } from './paths.ts';

const FileDialog = lazy(() => import('./file-preview.tsx').then((page) => ({ default: page.FileDialog })));

interface Where {
  folder?: string;
  file?: string;
}

/** The agent's workspace: looked at, brought to, taken from. */
export function Files({ agentId }: { agentId: string }) {
  const { folder = '.', file } = useSearch({ strict: false }) as Where;
  const navigate = useNavigate();
  const go = (to: Where) =>
    void navigate({
      to: '.',
      search: {
        tab: 'files',
        ...(to.folder !== '.' && { folder: to.folder }),
        ...(to.file !== undefined && { file: to.file }),
      } as never,
    });
  const read = useCall(web.files.list, { params: { id: agentId }, query: { path: folder } });
  const upload = useUpload(agentId, folder);
  const [victim, setVictim] = useState<FileEntry>();
  const { isOver, zone } = useDropped(upload.bring);
  return (
    <Card
      title={texts.title}
      hint={texts.hint}
      flush
      className={cx('overflow-hidden', isOver && 'outline-2 outline-accent outline-dashed')}
      actions={
        <>
          {(read.data?.entries.length ?? 0) > 0 && (
            <SaveButton small href={zipUrl(agentId, folder)} as={`${folder === '.' ? 'files' : nameOf(folder)}.zip`}>
              {texts.pack}
            </SaveButton>
          )}
          <Actions upload={upload} onLook={() => void read.refetch()} />
        </>
      }
    >
      <div {...zone}>
        <Way folder={folder} onGo={(to) => go({ folder: to })} />
        {upload.problem && (
          <div className="px-5 pb-3">
            <Notice tone="danger">{upload.problem}</Notice>
          </div>
        )}
        <Entries agentId={agentId} folder={folder} read={read} onGo={go} onRemove={setVictim} />
        {read.data?.more && <p className="px-5 pb-4 text-[0.9rem] text-ink-faint">{texts.more}</p>}
      </div>
      {victim && <Remove agentId={agentId} folder={folder} entry={victim} onClose={() => setVictim(undefined)} />}
      {file !== undefined && (
        <Suspense>
          <FileDialog agentId={agentId} path={file} onClose={() => go({ folder })} />
        </Suspense>
      )}
    </Card>
  );
}

function useDropped(bring: (files: File[]) => Promise<void>) {
  const [isOver, setOver] = useState(false);
  return {
    isOver,
    zone: {
      onDragOver: (event: DragEvent) => {
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: () => setOver(false),
      onDrop: (event: DragEvent) => {
        event.preventDefault();
        setOver(false);
        void bring([...event.dataTransfer.files]);
      },
    },
  };
}

function Actions({ upload, onLook }: { upload: ReturnType<typeof useUpload>; onLook: () => void }) {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button small icon="restart" onClick={onLook}>
        {texts.refresh}
      </Button>
      <Button small kind="primary" icon="plus" busy={upload.isBusy} onClick={() => picker.current?.click()}>
        {texts.upload}
      </Button>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label={texts.upload}
        onChange={({ target }) => {
          void upload.bring([...(target.files ?? [])]);
          target.value = '';
        }}
      />
    </>
  );
}

interface EntriesProps {
  agentId: string;
  folder: string;
  read: UseQueryResult<TypesOf<typeof web.files.list>['reply']>;
  onGo: (to: Where) => void;
  onRemove: (entry: FileEntry) => void;
}

function Entries({ agentId, folder, read, onGo, onRemove }: EntriesProps) {
  return (
    <Table
      label={texts.title}
      rows={read.data?.entries}
      rowKey={({ name }) => name}
      error={read.error}
      retry={() => void read.refetch()}
      find={({ name }) => name}
      empty={
        folder === '.' ? <Empty title={texts.empty}>{texts.emptyHint}</Empty> : <Empty title={texts.emptyFolder} />
      }
      columns={[
        {
          key: 'name',
          header: texts.name,
          sort: ({ name }) => name,
          cell: (entry) => <Name entry={entry} folder={folder} onGo={onGo} />,
        },
        {
          key: 'size',
          header: texts.size,
          end: true,
          sort: ({ bytes: size }) => size,
          cell: ({ kind, bytes: size }) => (kind === 'folder' ? texts.folder : bytes(size)),
        },
        {
          key: 'changed',
          header: texts.changed,
          minor: true,
          sort: ({ modifiedAt }) => modifiedAt,
          cell: ({ modifiedAt }) => ago(modifiedAt),
        },
        {
          key: 'do',
          header: '',
          end: true,
          cell: (entry) => <Doing agentId={agentId} folder={folder} entry={entry} onRemove={onRemove} />,
        },
      ]}
    />
  );
}

function Name({ entry, folder, onGo }: { entry: FileEntry } & Pick<EntriesProps, 'folder' | 'onGo'>) {
  const path = inside(folder, entry.name);
  const isFolder = entry.kind === 'folder';
  return (
    <button
      type="button"
      className="flex min-w-0 items-center gap-2 text-left hover:underline"
      onClick={() => onGo(isFolder ? { folder: path } : { folder, file: path })}
    >
      <Icon name={isFolder ? 'folder' : 'file'} size={16} />
      <span className="min-w-0 break-words" dir="auto">
        {entry.name}
      </span>
    </button>
  );
}

function Doing({ agentId, folder, entry, onRemove }: { entry: FileEntry } & Omit<EntriesProps, 'read' | 'onGo'>) {
  return (
    <span className="inline-flex items-center">
      {entry.kind === 'file' && (
        <Take
          href={fileUrl(agentId, inside(folder, entry.name))}
          as={entry.name}
          label={texts.downloadNamed(entry.name)}
          title={texts.download}
        />
      )}
      {entry.kind === 'folder' && (
        <Take
          href={zipUrl(agentId, inside(folder, entry.name))}
          as={`${entry.name}.zip`}
          label={texts.packNamed(entry.name)}
          title={texts.pack}
        />
      )}
      <IconButton icon="trash" label={texts.deleteNamed(entry.name)} onClick={() => onRemove(entry)} />
    </span>
  );
}

const zipUrl = (agentId: string, folder: string) =>
  urlOf(web.files.pack, { params: { id: agentId }, query: { path: folder } });

function Take({ href, as, label, title }: { href: string; as: string; label: string; title: string }) {
  return (
    <a
      href={href}
      download={as}
      aria-label={label}
      title={title}
      className="inline-flex size-10 items-center justify-center rounded-lg text-ink-soft hover:bg-sunken hover:text-ink"
    >
      <Icon name="installations" />
    </a>
  );
}

/** One after the other: a browser has few connections, and so has the platform for one person. */
function useUpload(agentId: string, folder: string) {
  const queries = useQueryClient();
  const say = useSay();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  return {
    isBusy,
    problem,
    async bring(files: File[]) {
      setProblem(undefined);
      setBusy(true);
      try {
        for (const file of files) {
          const query = { path: inside(folder, file.name), fresh: 'true' as const };
          const { path } = await call(web.files.put, { params: { id: agentId }, query, bytes: file, timeout: 300_000 });
          say(texts.uploaded(path));
        }
      } catch (error) {
        setProblem((error as Error).message);
      }
      setBusy(false);
      await stale(queries, web.files.list);
    },
  };
}

/** Each folder on the way leads back to itself. */
function Way({ folder, onGo }: { folder: string; onGo: (folder: string) => void }) {
  const parts = folder === '.' ? [] : folder.split('/');
  const way = [
    { name: texts.root, path: '.' },
    ...parts.map((name, index) => ({ name, path: parts.slice(0, index + 1).join('/') })),
  ];
  return (
    <nav aria-label={texts.where} className="flex flex-wrap items-center gap-1 px-5 pb-3 text-[0.93rem]">
      {way.map(({ name, path }, index) => (
        <span key={path} className="flex items-center gap-1">
          {index > 0 && <span aria-hidden="true">/</span>}
          {index === way.length - 1 ? (
            <span aria-current="page" dir="auto">
              {name}
            </span>
          ) : (
            <button type="button" className="link" onClick={() => onGo(path)} dir="auto">
              {name}
            </button>
          )}
        </span>
      ))}
    </nav>
  );
}

function Remove({
  agentId,
  folder,
  entry,
  onClose,
}: {
  agentId: string;
  folder: string;
  entry: FileEntry;
  onClose: () => void;
}) {
  const say = useSay();
  const remove = useSend(web.files.remove, {
    refresh: [web.files.list],
    done: () => {
      say(texts.deleted);
      onClose();
    },
  });
  return (
    <Confirm
      open
      onClose={onClose}
      title={texts.deleteTitle(entry.name)}
      losses={<p>{entry.kind === 'folder' ? texts.deleteFolderLoss : texts.deleteLoss}</p>}
      action={texts.delete}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({ params: { id: agentId }, query: { path: inside(folder, entry.name) } })}
    />
  );
}
