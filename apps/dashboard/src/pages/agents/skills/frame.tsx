import type { ReactNode } from 'react';
import { statusOf } from '../../../api.ts';
import { bytes } from '../../../format.ts';
import { review as texts, skills } from '../../../texts/skills.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { Page } from '../../../ui/page.tsx';
import { Failure, Lines } from '../../../ui/states.tsx';
import { visible } from '../../../visible.ts';

const back = { to: '/dashboard/skills', label: texts.back };

/** The page of one skill, whether it waits or is in the library: until it is there, and if it is not. */
export function SkillFrame<Skill extends { name: string; description: string }>({
  read: { data, error, refetch },
  titleOf,
  children,
}: {
  read: { data: Skill | undefined; error: Error | null; refetch: () => unknown };
  titleOf: (skill: Skill) => string;
  children: (skill: Skill) => ReactNode;
}) {
  if (data)
    return (
      <Page title={titleOf(data)} back={back} lead={<span dir="auto">{visible(data.description)}</span>}>
        {children(data)}
      </Page>
    );
  return (
    <Page title={skills.title} back={back}>
      {statusOf(error) === 404 ? (
        <Notice tone="spot">{error?.message}</Notice>
      ) : error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : (
        <Lines rows={6} />
      )}
    </Page>
  );
}

interface Listed {
  path: string;
  kind: string;
  bytes: number;
}

/** The files of a skill, one of them open. */
export function FileList<File extends Listed>({
  files,
  open,
  onOpen,
  mark,
  children: shown,
}: {
  files: readonly File[];
  open: string | undefined;
  onOpen: (path: string) => void;
  /** What is said beside a file's name. */
  mark?: (file: File) => ReactNode;
  children: ReactNode;
}) {
  return (
    <Card title={texts.files}>
      <ul className="mb-4 flex flex-col gap-1">
        {files.map((file) => (
          <li key={file.path} className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <Button
              small
              kind={file.path === open ? 'plain' : 'quiet'}
              aria-pressed={file.path === open}
              onClick={() => onOpen(file.path)}
            >
              <span className="font-mono break-all whitespace-normal">{file.path}</span>
            </Button>
            {mark?.(file)}
            <span className="text-[0.85rem] text-ink-faint">
              {file.kind}, {bytes(file.bytes)}
            </span>
          </li>
        ))}
      </ul>
      {shown}
    </Card>
  );
}
