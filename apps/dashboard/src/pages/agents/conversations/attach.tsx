import { MOST_ATTACHMENTS, web, UPLOADS } from '@troupe/contract';
import { useCallback, useEffect, useRef, useState } from 'react';
import { call, urlOf } from '../../../api.ts';
import { bytes as size } from '../../../format.ts';
import { forget, keep, kept } from '../../../keeping.ts';
import { attach as texts } from '../../../texts/talk.ts';
import { Button, IconButton, Spinner } from '../../../ui/button.tsx';
import { Icon } from '../../../ui/icons.tsx';
import { safeName } from '../files/paths.ts';

/** Files that go with the next message. Each is brought to the workspace at once, and named when the message is sent. */

export interface Attached {
  key: string;
  name: string;
  bytes: number;
  /** Where it is, once it is there. */
  path?: string;
  problem?: string;
  file?: File;
}

const keyOf = (place: string) => `attached:${place}`;
let made = 0;

export function useAttached(agentId: string, place: string) {
  const at = `${agentId}:${place}`;
  const [files, setFiles] = useState<Attached[]>(() => (kept(keyOf(at)) as Attached[] | undefined) ?? []);
  const [problem, setProblem] = useState<string>();
  const count = useRef(files.length);
  count.current = files.length;

  useEffect(() => {
    // What is there has no bytes here any more.
    const there = files.filter(({ path, file }) => path !== undefined && file === undefined);
    if (there.length > 0) keep(keyOf(at), there);
    else forget(keyOf(at));
  }, [at, files]);

  const change = useCallback(
    (key: string, to: Partial<Attached>) =>
      setFiles((old) => old.map((one) => (one.key === key ? { ...one, ...to } : one))),
    [],
  );

  const bring = useCallback(
    (key: string, file: File) => {
      change(key, { problem: undefined });
      const query = { path: `${UPLOADS}/${safeName(file.name)}`, fresh: 'true' as const };
      call(web.files.put, { params: { id: agentId }, query, bytes: file, timeout: 300_000 }).then(
        ({ path }) => change(key, { path, file: undefined }),
        (error: Error) => change(key, { problem: error.message }),
      );
    },
    [agentId, change],
  );

  const add = useCallback(
    (given: readonly File[]) => {
      const room = MOST_ATTACHMENTS - count.current;
      setProblem(given.length > room ? texts.tooMany(MOST_ATTACHMENTS) : undefined);
      const taken = given.slice(0, Math.max(0, room)).map((file) => ({
        key: `${Date.now()}-${++made}`,
        name: file.name || 'picture.png',
        bytes: file.size,
        file,
      }));
      setFiles((old) => [...old, ...taken]);
      for (const { key, file } of taken) bring(key, file);
    },
    [bring],
  );

  return {
    files,
    problem,
    add,
    again: ({ key, file }: Attached) => file && bring(key, file),
    remove: (key: string) => setFiles((old) => old.filter((one) => one.key !== key)),
    clear: () => setFiles([]),
    paths: files.flatMap(({ path }) => path ?? []),
    isBusy: files.some(({ path, problem: why }) => path === undefined && why === undefined),
  };
}

export type Attaching = ReturnType<typeof useAttached>;

/** What goes with the message that is being written. */
export function AttachedList({ attaching }: { attaching: Attaching }) {
  const { files, problem } = attaching;
  if (files.length === 0 && !problem) return null;
  return (
    <div className="mb-2 flex flex-col gap-1">
      <ul aria-label={texts.pending} className="flex flex-wrap gap-2">
        {files.map((one) => (
          <li
            key={one.key}
            className="flex max-w-full min-w-0 items-center gap-1.5 rounded-lg border border-line bg-sunken py-0.5 pl-2.5 text-[0.87rem]"
          >
            {one.path === undefined && one.problem === undefined ? (
              <Spinner size={14} />
            ) : (
              <Icon name="clip" size={15} />
            )}
            <span className="min-w-0 truncate" dir="auto">
              {one.name}
            </span>
            <span className="num shrink-0 text-ink-faint">
              {one.path === undefined && one.problem === undefined ? texts.uploading : size(one.bytes)}
            </span>
            {one.problem !== undefined && (
              <span role="alert" className="text-danger">
                {one.problem}
              </span>
            )}
            {one.problem !== undefined && one.file && (
              <Button small onClick={() => attaching.again(one)}>
                {texts.again}
              </Button>
            )}
            <IconButton
              icon="close"
              label={texts.remove(one.name)}
              className="size-7!"
              onClick={() => attaching.remove(one.key)}
            />
          </li>
        ))}
      </ul>
      {problem && (
        <p role="alert" className="text-[0.87rem] text-danger">
          {problem}
        </p>
      )}
    </div>
  );
}

export const fileUrl = (agentId: string, path: string, show = false) =>
  urlOf(web.files.read, { params: { id: agentId }, query: { path, ...(show && { show: 'true' }) } });
