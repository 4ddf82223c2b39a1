import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { call, stale, useSend } from '../../../api.ts';
import { skills as texts } from '../../../texts/skills.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { TextArea, TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { Failure, Lines } from '../../../ui/states.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { LeftOff, useUnsaved } from '../../../ui/use-unsaved.tsx';

interface Run {
  agent?: string;
  session?: string;
  run?: string;
}

/** The ways that a skill comes in; all of them end in a review. */
export function AddSkill({ from, onReview }: { from: Run; onReview: (id: string) => void }) {
  const isDraft = from.agent !== undefined && from.session !== undefined;
  const [tab, setTab] = useState(isDraft ? 'write' : 'files');
  return (
    <Card title={texts.add}>
      <Tabs
        label={texts.add}
        value={tab}
        onChange={setTab}
        tabs={[
          {
            key: 'files',
            label: `${texts.zip}, ${texts.folder.toLowerCase()}`,
            content: () => <Files onReview={onReview} />,
          },
          { key: 'address', label: texts.address, content: () => <Address onReview={onReview} /> },
          {
            key: 'write',
            label: texts.write,
            content: () =>
              isDraft ? (
                <Draft from={from} onReview={onReview} />
              ) : (
                <Write text={texts.textStart} onReview={onReview} />
              ),
          },
        ]}
      />
    </Card>
  );
}

/** Base64 of a file, without its head. */
const encoded = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error ?? new Error(file.name));
    reader.readAsDataURL(file);
  });

function useFiles(onReview: (id: string) => void) {
  const queries = useQueryClient();
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  async function bring(send: () => Promise<{ id: string }>): Promise<void> {
    setBusy(true);
    setProblem('');
    try {
      const { id } = await send();
      await stale(queries, web.skills.list);
      onReview(id);
    } catch (error) {
      setProblem((error as Error).message);
    } finally {
      setBusy(false);
    }
  }
  return {
    problem,
    isBusy,
    archive: (file: File, path: string) =>
      bring(async () =>
        call(web.skills.reviewArchive, {
          query: { ...(path !== '' && { path }) },
          bytes: new Uint8Array(await file.arrayBuffer()),
        }),
      ),
    folder: (files: readonly File[]) =>
      bring(async () =>
        call(web.skills.review, {
          body: {
            files: await Promise.all(
              files.map(async (file) => ({
                path: file.webkitRelativePath || file.name,
                content: await encoded(file),
                encoding: 'base64' as const,
              })),
            ),
          },
        }),
      ),
  };
}

function Files({ onReview }: { onReview: (id: string) => void }) {
  const { problem, isBusy, archive, folder } = useFiles(onReview);
  const [path, setPath] = useState('');
  const zip = useRef<HTMLInputElement>(null);
  const folders = useRef<HTMLInputElement>(null);
  return (
    <div className="flex flex-col gap-4 pt-4">
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" icon="plus" busy={isBusy} onClick={() => zip.current?.click()}>
          {texts.zip}
        </Button>
        <Button icon="folder" disabled={isBusy} onClick={() => folders.current?.click()}>
          {texts.folder}
        </Button>
      </div>
      <Inside path={path} setPath={setPath} />
      {problem && <Notice tone="danger">{problem}</Notice>}
      <input
        ref={zip}
        type="file"
        hidden
        accept=".zip,.tar,.gz,.tgz,.md,.skill"
        aria-label={texts.zip}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file) void archive(file, path.trim());
          target.value = '';
        }}
      />
      <input
        ref={folders}
        type="file"
        hidden
        multiple
        aria-label={texts.folder}
        {...{ webkitdirectory: '' }}
        onChange={({ target }) => {
          if (target.files?.length) void folder([...target.files]);
          target.value = '';
        }}
      />
    </div>
  );
}

function Address({ onReview }: { onReview: (id: string) => void }) {
  const [url, setUrl] = useState('');
  const [path, setPath] = useState('');
  return (
    <ReviewForm
      body={{ url: url.trim(), ...(path.trim() !== '' && { path: path.trim() }) }}
      fields={['url', 'path']}
      action={texts.fetch}
      onReview={onReview}
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
      <Inside path={path} setPath={setPath} />
    </ReviewForm>
  );
}

/** Which folder of what is brought. */
function Inside({ path, setPath }: { path: string; setPath: (path: string) => void }) {
  return (
    <TextField
      label={texts.inside}
      hint={texts.insideHint}
      mono
      name="path"
      value={path}
      onChange={({ target }) => setPath(target.value)}
    />
  );
}

/** Something typed that becomes a skill to look at. */
function ReviewForm({
  body,
  fields,
  action,
  onReview,
  children,
}: {
  body: TypesOf<typeof web.skills.review>['sent']['body'];
  fields: string[];
  action: string;
  onReview: (id: string) => void;
  children: ReactNode;
}) {
  const send = useSend(web.skills.review, { refresh: [web.skills.list], done: ({ id }) => onReview(id) });
  return (
    <Form
      error={send.error}
      fields={fields}
      onSubmit={() => send.mutate({ body })}
      className="flex flex-col gap-4 pt-4"
    >
      {children}
      <Refused error={send.error} />
      <div>
        <Button kind="primary" type="submit" busy={send.isPending}>
          {action}
        </Button>
      </div>
    </Form>
  );
}

function Draft({
  from: { agent = '', session = '', run = '1' },
  onReview,
}: {
  from: Run;
  onReview: (id: string) => void;
}) {
  const { mutate, data, error, isPending } = useSend(web.skills.draft);
  const write = useCallback(
    (by?: 'rules') => mutate({ params: { id: agent, sessionId: session }, body: { run: Number(run), by } }),
    [mutate, agent, session, run],
  );
  // A model that is asked costs something: once, for each run that somebody came with.
  const asked = useRef('');
  useEffect(() => {
    const key = [agent, session, run].join();
    if (asked.current === key) return;
    asked.current = key;
    write();
  }, [agent, session, run, write]);
  return (
    <div className="flex flex-col gap-3 pt-4">
      {error && <Failure error={error} retry={() => write()} />}
      {error && (
        <div>
          <Button onClick={() => write('rules')}>{texts.byRules}</Button>
        </div>
      )}
      {isPending && <Lines rows={8} />}
      {data && (
        <>
          <Notice title={texts.draftBy[data.isSandbox ? 'sandbox' : data.by]}>{texts.draftHint}</Notice>
          <Write key={data.content} text={data.content} onReview={onReview} />
        </>
      )}
    </div>
  );
}

function Write({ text: given, onReview }: { text: string; onReview: (id: string) => void }) {
  const unsaved = useUnsaved('skill', { text: given });
  const { text } = unsaved.value;
  return (
    <ReviewForm
      body={{ files: [{ path: 'SKILL.md', content: text }] }}
      fields={['files']}
      action={texts.send}
      onReview={(id) => {
        unsaved.clear();
        onReview(id);
      }}
    >
      <LeftOff of={unsaved} />
      <TextArea
        label={texts.text}
        hint={texts.textHint}
        mono
        rows={16}
        name="files"
        required
        dir="auto"
        value={text}
        onChange={({ target }) => unsaved.set({ text: target.value })}
      />
    </ReviewForm>
  );
}
