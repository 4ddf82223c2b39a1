import { web } from '@troupe/contract';
import type { SessionStep } from '@troupe/contract';
import { createTouched } from '@troupe/domain';
import type { TouchedFile } from '@troupe/domain';
import { useMemo } from 'react';
import { useCall } from '../../../api.ts';
import { touched as texts } from '../../../texts/talk.ts';
import { Icon } from '../../../ui/icons.tsx';
import { nameOf } from '../files/paths.ts';

interface Read {
  steps: SessionStep[] | undefined;
  hasOlder: boolean;
}

/** The files that the conversation is about, the newest first. What came before what is shown is asked for once. */
export function useTouched(agentId: string, sessionId: string | undefined, { steps, hasOlder }: Read): TouchedFile[] {
  const params = { id: agentId, sessionId: sessionId ?? '' };
  const before = useCall(web.conversations.listFiles, { params }, { enabled: hasOlder && sessionId !== undefined });
  const here = useMemo(() => {
    const files = createTouched();
    files.take(steps ?? []);
    return files.files();
  }, [steps]);
  return useMemo(() => {
    const shown = new Set(here.map(({ path }) => path));
    const older = hasOlder ? (before.data?.files ?? []) : [];
    return [...here, ...older.filter(({ path }) => !shown.has(path))];
  }, [here, hasOlder, before.data]);
}

/** One under the other, with what was done to each last. */
export function TouchedList({
  files,
  agent,
  onOpen,
}: {
  files: readonly TouchedFile[];
  agent: string;
  onOpen: (path: string) => void;
}) {
  if (files.length === 0) return <p className="text-[0.9rem] text-ink-soft">{texts.none(agent)}</p>;
  return (
    <ul className="flex flex-col gap-0.5">
      {files.map(({ path, how }) => (
        <li key={path}>
          {how === 'removed' ? (
            <div className="flex items-start gap-2 px-2 py-1.5 text-ink-faint line-through">
              <Named path={path} how={texts.how.removed} />
            </div>
          ) : (
            <button
              type="button"
              className="flex w-full min-w-0 items-start gap-2 rounded-lg px-2 py-1.5 text-start hover:bg-sunken pointer-coarse:min-h-11"
              onClick={() => onOpen(path)}
            >
              <Named path={path} how={texts.how[how]} />
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

function Named({ path, how }: { path: string; how: string }) {
  const folder = path.slice(0, -nameOf(path).length - 1);
  return (
    <>
      <span className="mt-0.5 shrink-0 text-ink-faint">
        <Icon name="file" size={16} />
      </span>
      <span className="min-w-0">
        <bdi className="block truncate text-[0.92rem]" title={path}>
          {nameOf(path)}
        </bdi>
        <span className="block truncate text-[0.8rem] text-ink-faint">
          {how}
          {folder && (
            <>
              {' · '}
              <bdi>{folder}</bdi>
            </>
          )}
        </span>
      </span>
    </>
  );
}
