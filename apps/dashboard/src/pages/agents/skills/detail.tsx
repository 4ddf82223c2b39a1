import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useState } from 'react';
import { useCall } from '../../../api.ts';
import { review as texts } from '../../../texts/skills.ts';
import { Loaded } from '../../../ui/states.tsx';
import { FileList, SkillFrame } from './frame.tsx';
import { linesOf } from './line-diff.ts';
import { visible } from '../../../visible.ts';
import { DiffText } from './diff-text.tsx';
import { About, Findings, Runs } from './review.tsx';

type Skill = TypesOf<typeof web.skills.get>['reply'];

/** A skill of the library as agents read it. */
export function SkillDetail({ id }: { id: string }) {
  const read = useCall(web.skills.get, { params: { id } }, { retry: false });
  return (
    <SkillFrame read={read} titleOf={({ name }) => name}>
      {(skill) => (
        <>
          <Files skill={skill} />
          <Findings report={skill.report} />
          <div className="grid items-start gap-5 lg:grid-cols-2">
            <Runs report={skill.report} />
            <About of={skill} />
          </div>
        </>
      )}
    </SkillFrame>
  );
}

function Files({ skill }: { skill: Skill }) {
  const [open, setOpen] = useState('SKILL.md');
  return (
    <FileList files={skill.files} open={open} onOpen={setOpen}>
      <Shown key={open} id={skill.id} path={open} />
    </FileList>
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
          <DiffText label={path} lines={linesOf('same', visible(text))} />
        )
      }
    </Loaded>
  );
}
