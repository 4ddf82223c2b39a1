import { web } from '@troupe/contract';
import type { SkillFinding, SkillReview } from '@troupe/contract';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { review as texts, skills } from '../../../texts/skills.ts';
import { Button } from '../../../ui/button.tsx';
import { Badge, Card, Facts, Notice } from '../../../ui/card.tsx';
import { CheckField } from '../../../ui/field.tsx';
import { Failure, Lines } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { DiffText } from './diff-text.tsx';
import { FileList, SkillFrame } from './frame.tsx';
import { lineDiff, linesOf } from './line-diff.ts';
import { visible } from '../../../visible.ts';
import type { DiffLine } from './line-diff.ts';

/** What somebody sees before a skill is taken: what was found, what could run, and every file, as a difference where there is one. */
export function Review({ id }: { id: string }) {
  const read = useCall(web.skills.getReview, { params: { id } }, { retry: false });
  return (
    <SkillFrame read={read} titleOf={({ name }) => texts.title(name)}>
      {(review) => (
        <>
          <Notice>
            {review.replaces === null ? texts.isNew : review.replaces === review.digest ? texts.same : texts.update}
          </Notice>
          <Findings report={review.report} />
          <div className="grid items-start gap-5 lg:grid-cols-2">
            <Runs report={review.report} />
            <About of={review} />
          </div>
          <Files review={review} />
          <Decide review={review} />
        </>
      )}
    </SkillFrame>
  );
}

const TONES = { danger: 'danger', warning: 'spot', note: 'neutral' } as const;

type Report = SkillReview['report'];

export function Findings({ report }: { report: Report }) {
  return (
    <Card title={texts.findings} hint={texts.findingsHint}>
      {report.findings.length === 0 ? (
        <p className="text-ink-soft">{texts.none}</p>
      ) : (
        <ul className="flex flex-col gap-3">
          {report.findings.map((finding, index) => (
            <FindingLine key={index} finding={finding} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function FindingLine({ finding: { level, text, path, line, excerpt } }: { finding: SkillFinding }) {
  return (
    <li className="min-w-0 rounded-lg border border-line p-3">
      <p className="flex flex-wrap items-center gap-2">
        <Badge tone={TONES[level]}>{texts.levels[level]}</Badge>
        <span className="font-medium">{text}</span>
        <span className="font-mono text-[0.85rem] break-all text-ink-faint">{texts.at(path, line)}</span>
      </p>
      {excerpt && <p className="mt-2 rounded bg-sunken px-2 py-1 font-mono text-[0.85rem] break-all">{excerpt}</p>}
    </li>
  );
}

export function Runs({ report }: { report: Report }) {
  return (
    <Card title={texts.runs} hint={texts.runsHint}>
      {report.scripts.length === 0 ? (
        <p className="text-ink-soft">{texts.noScripts}</p>
      ) : (
        <ul className="flex flex-col gap-1">
          {report.scripts.map(({ path, interpreter, lines }) => (
            <li key={path}>
              <span className="font-mono text-[0.9rem] break-all">{path}</span>{' '}
              <span className="text-ink-faint">{texts.script(interpreter, lines)}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

/** What it says of itself, whether it waits or is in the library. */
type Described = Pick<SkillReview, 'source' | 'digest' | 'license' | 'compatibility' | 'allowedTools' | 'report'>;

export function About({ of: review }: { of: Described }) {
  const { report, allowedTools } = review;
  const items: [string, React.ReactNode][] = [
    [skills.origin, skills.sources[review.source] ?? review.source],
    [texts.digest, <span className="font-mono text-[0.85rem] break-all">sha256:{review.digest}</span>],
    ...(review.license ? [[texts.license, review.license] as [string, string]] : []),
    ...(review.compatibility ? [[texts.needs, review.compatibility] as [string, string]] : []),
    ...(allowedTools.length > 0
      ? [[texts.tools, `${allowedTools.join(', ')}. ${texts.toolsNote}`] as [string, string]]
      : []),
    ...(report.hosts.length > 0 ? [[texts.hosts, report.hosts.join(', ')] as [string, string]] : []),
    ...(report.leftOut.length > 0 ? [[texts.leftOut, report.leftOut.join(', ')] as [string, string]] : []),
  ];
  return (
    <Card>
      <Facts items={items} />
    </Card>
  );
}

type File = SkillReview['files'][number];

const CHANGES = { added: 'ok', changed: 'spot', removed: 'danger', same: 'neutral' } as const;

function Files({ review }: { review: SkillReview }) {
  const first = review.files.find(({ path }) => path === 'SKILL.md') ?? review.files[0];
  const [open, setOpen] = useState(first?.path);
  const chosen = review.files.find(({ path }) => path === open);
  return (
    <FileList
      files={review.files}
      open={open}
      onOpen={setOpen}
      mark={({ change }) => <Badge tone={CHANGES[change]}>{texts.changes[change]}</Badge>}
    >
      {chosen && <Shown key={chosen.path} id={review.id} file={chosen} />}
    </FileList>
  );
}

/** A file, or how it differs from the one in the library. */
function Shown({ id, file: { path, change } }: { id: string; file: File }) {
  const query = { path };
  const params = { id };
  const now = useCall(
    web.skills.getReviewFile,
    { params, query: { ...query, side: 'new' } },
    { enabled: change !== 'removed' },
  );
  const old = useCall(
    web.skills.getReviewFile,
    { params, query: { ...query, side: 'old' } },
    { enabled: change === 'changed' || change === 'removed' },
  );
  const isReady = (change === 'removed' || now.data) && (change === 'added' || change === 'same' || old.data);
  const lines = useMemo((): DiffLine[] => {
    if (!isReady) return [];
    const [before, after] = [old.data?.text ?? '', now.data?.text ?? ''].map(visible) as [string, string];
    return change === 'same' || change === 'added' ? linesOf(change, after) : lineDiff(before, after);
  }, [isReady, change, old.data, now.data]);
  const error = now.error ?? old.error;
  if (error) return <Failure error={error} />;
  if (!isReady) return <Lines rows={6} />;
  if ((now.data ?? old.data)?.text === null) return <p className="text-ink-soft">{texts.noText}</p>;
  return <DiffText label={path} lines={lines} isDiff={change === 'changed' || change === 'removed'} />;
}

function Decide({ review }: { review: SkillReview }) {
  const say = useSay();
  const navigate = useNavigate();
  const leave = (words: string) => {
    say(words);
    void navigate({ to: '/dashboard/skills', search: {} as never });
  };
  const accept = useSend(web.skills.accept, { refresh: [web.skills.list], done: () => leave(texts.accepted) });
  const drop = useSend(web.skills.dropReview, { refresh: [web.skills.list], done: () => leave(texts.dropped) });
  const isDangerous = review.report.findings.some(({ level }) => level === 'danger');
  const [isSure, setSure] = useState(false);
  const error = accept.error ?? drop.error;
  return (
    <Card>
      <div className="flex flex-col gap-4">
        {isDangerous && (
          <CheckField label={texts.sure} checked={isSure} onChange={({ target }) => setSure(target.checked)} />
        )}
        {error && <Notice tone="danger">{error.message}</Notice>}
        <div className="flex flex-wrap gap-2">
          <Button
            kind="primary"
            icon="check"
            busy={accept.isPending}
            disabled={isDangerous && !isSure}
            onClick={() => accept.mutate({ params: { id: review.id }, body: { digest: review.digest } })}
          >
            {texts.accept}
          </Button>
          <Button kind="danger" busy={drop.isPending} onClick={() => drop.mutate({ params: { id: review.id } })}>
            {texts.drop}
          </Button>
        </div>
      </div>
    </Card>
  );
}
