import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useState } from 'react';
import { statusOf, useCall } from '../../../api.ts';
import { bytes } from '../../../format.ts';
import { review as texts, skills } from '../../../texts/skills.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { Page } from '../../../ui/page.tsx';
import { Failure, Lines, Loaded } from '../../../ui/states.tsx';
import { visible } from './line-diff.ts';
import { About, Findings, Runs, Text } from './review.tsx';

type Skill = TypesOf<typeof web.skills.get>['reply'];

/** A skill of the library as agents read it. */
export function SkillDetail({ id }: { id: string }) {
  const read = useCall(web.skills.get, { params: { id } }, { retry: false });
  const back = { to: '/dashboard/skills', label: texts.back };
  if (!read.data)
    return (
      <Page title={skills.title} back={back}>
        {statusOf(read.error) === 404 ? (
          <Notice tone="spot">{read.error?.message}</Notice>
        ) : read.error ? (
          <Failure error={read.error} retry={() => void read.refetch()} />
        ) : (
          <Lines rows={6} />
        )}
      </Page>
    );
  const { data: skill } = read;
  return (
    <Page title={skill.name} back={back} lead={<span dir="auto">{visible(skill.description)}</span>}>
      <Files skill={skill} />
      <Findings report={skill.report} />
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <Runs report={skill.report} />
        <About of={skill} />
      </div>
    </Page>
  );
}

function Files({ skill }: { skill: Skill }) {
  const [open, setOpen] = useState('SKILL.md');
  return (
    <Card title={texts.files}>
      <ul className="mb-4 flex flex-col gap-1">
        {skill.files.map((file) => (
          <li key={file.path} className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <Button
              small
              kind={file.path === open ? 'plain' : 'quiet'}
              aria-pressed={file.path === open}
              onClick={() => setOpen(file.path)}
            >
              <span className="font-mono break-all whitespace-normal">{file.path}</span>
            </Button>
            <span className="text-[0.85rem] text-ink-faint">
              {file.kind}, {bytes(file.bytes)}
            </span>
          </li>
        ))}
      </ul>
      <Shown key={open} id={skill.id} path={open} />
    </Card>
  );
}

function Shown({ id, path }: { id: string; path: string }) {
  const read = useCall(web.skills.getFile, { params: { id }, query: { path } });
  return (
    <Loaded from={read} rows={6}>
      {({ text }) =>
        text === null ? (
          <p className="text-ink-soft">{texts.noText}</p>
        ) : (
          <Text
            label={path}
            lines={visible(text)
              .split('\n')
              .map((line) => ({ kind: 'same', text: line }))}
          />
        )
      }
    </Loaded>
  );
}
