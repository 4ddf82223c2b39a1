import { Link, useParams } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { ReactNode } from 'react';
import { duration, money, short } from '../../../format.ts';
import { modelName } from '../../../models.ts';
import { runs as texts } from '../../../texts/runs.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Markdown } from '../../../ui/markdown.tsx';
import { Page } from '../../../ui/page.tsx';
import { Table } from '../../../ui/table.tsx';
import { useAgentNames } from '../agents/names.ts';
import { DiffText } from '../skills/diff-text.tsx';
import { lineDiff } from '../skills/line-diff.ts';
import { visible } from '../../../visible.ts';
import { barName } from './bar-name.ts';
import { aligned, answerOf, askedIn, filesUntil, modelsOf } from './beside.ts';
import { runAddress, runName, runOf, stepIn } from './run-name.ts';
import type { RunPlace } from './run-name.ts';
import { CopyLink, NoRun, RunRead } from './run-states.tsx';
import { useRun } from './use-run.ts';
import type { Bar, Run } from './waterfall.ts';

/** Two runs beside each other; the address names both. */
export default function Beside() {
  const { run, other } = useParams({ strict: false }) as { run: string; other: string };
  const places = useMemo(() => [runOf(run), runOf(other)] as const, [run, other]);
  const [one, two] = places;
  return one && two ? <Both key={`${run} ${other}`} one={one} two={two} /> : <NoRun />;
}

interface Side {
  place: RunPlace;
  run: Run;
  name: string;
}

function Both({ one, two }: { one: RunPlace; two: RunPlace }) {
  const [left, right] = [useRun(one), useRun(two)];
  const { nameOf } = useAgentNames();
  const sides: [Side, Side] = [
    { place: one, run: left.run, name: nameOf(one.agentId) },
    { place: two, run: right.run, name: nameOf(two.agentId) },
  ];
  return (
    <Page
      title={texts.besideTitle}
      lead={texts.besideLead}
      back={{ to: runAddress(one), label: texts.title }}
      actions={
        <>
          <CopyLink />
          <LinkButton icon="restart" to={`${runAddress(two)}/compare/${runName(one)}`}>
            {texts.swap}
          </LinkButton>
        </>
      }
    >
      <RunRead of={left}>
        <RunRead of={right}>
          <Sums sides={sides} />
          <Answers sides={sides} />
          <Steps sides={sides} />
          <Files sides={sides} />
        </RunRead>
      </RunRead>
    </Page>
  );
}

/** The second one against the first: more, less, or the same. */
function difference(one: number, two: number, words: (value: number) => string): string {
  if (one === two) return texts.same;
  const part = one > 0 ? ` (${Math.round((Math.abs(two - one) / one) * 100)} %)` : '';
  return (two > one ? texts.more : texts.less)(words(Math.abs(two - one))) + part;
}

const outcomeOf = ({ outcome }: Run) => (outcome === undefined ? texts.goesOn : (texts.outcomes[outcome] ?? outcome));

type Line = [label: string, one: ReactNode, two: ReactNode, between: string];

function linesOf([{ run: one }, { run: two }]: [Side, Side]): Line[] {
  const figure = (label: string, of: (run: Run) => number, words: (value: number) => string): Line => [
    label,
    words(of(one)),
    words(of(two)),
    difference(of(one), of(two), words),
  ];
  const models = (run: Run) => modelsOf(run).map(modelName).join(', ');
  const cost = (micros: number) => money(micros / 1e6);
  const hasWaited = one.waitedMs + two.waitedMs > 0;
  return [
    figure(texts.worked, ({ workedMs }) => workedMs, duration),
    ...(hasWaited ? [figure(texts.waited, ({ waitedMs }) => waitedMs, duration)] : []),
    figure(texts.cost, ({ costMicros }) => costMicros, cost),
    figure(texts.tokens, ({ tokens }) => tokens, short),
    figure(texts.steps, ({ bars }) => bars.length, short),
    figure(texts.wordCount, (run) => wordsIn(answerOf(run)), short),
    [texts.model, models(one), models(two), models(one) === models(two) ? texts.same : texts.another],
    [texts.ending, outcomeOf(one), outcomeOf(two), outcomeOf(one) === outcomeOf(two) ? texts.same : texts.another],
  ];
}

const wordsIn = (text: string): number => text.split(/\s+/).filter(Boolean).length;

function Sums({ sides }: { sides: [Side, Side] }) {
  return (
    <Card title={texts.sums} flush className="overflow-hidden">
      <Table
        label={texts.sums}
        rows={linesOf(sides)}
        rowKey={([label]) => label}
        empty={null}
        columns={[
          { key: 'what', header: texts.what, cell: ([label]) => <span className="font-medium">{label}</span> },
          { key: 'one', header: texts.first, cell: ([, one]) => <span className="num">{one}</span> },
          { key: 'two', header: texts.second, cell: ([, , two]) => <span className="num">{two}</span> },
          {
            key: 'between',
            header: texts.between,
            cell: ([, , , between]) => <span className="num text-ink-soft">{between}</span>,
          },
        ]}
      />
    </Card>
  );
}

/** What each said in the end, and below it how that differs. */
function Answers({ sides }: { sides: [Side, Side] }) {
  const [one, two] = sides.map(({ run }) => answerOf(run)) as [string, string];
  const lines = useMemo(() => lineDiff(visible(one), visible(two)), [one, two]);
  return (
    <>
      <div className="grid items-start gap-5 md:grid-cols-2">
        {sides.map(({ place, run, name }, index) => (
          <Card
            key={index === 0 ? texts.first : texts.second}
            title={index === 0 ? texts.first : texts.second}
            hint={<bdi>{texts.ofAgent(name, modelsOf(run).map(modelName).join(', '))}</bdi>}
            actions={
              <LinkButton small to={runAddress(place)} aria-label={index === 0 ? texts.openFirst : texts.openSecond}>
                {texts.open}
              </LinkButton>
            }
          >
            <p className="mb-3 line-clamp-3 rounded-lg bg-sunken px-3 py-2 text-[0.9rem] break-words" dir="auto">
              {askedIn(run)}
            </p>
            <div className="max-h-[32rem] min-w-0 overflow-auto break-words" dir="auto">
              {answerOf(run) ? <Markdown text={answerOf(run)} /> : <p className="text-ink-soft">{texts.noWords}</p>}
            </div>
          </Card>
        ))}
      </div>
      {one !== two && (
        <details className="rounded-2xl border border-line bg-surface px-5 py-3 shadow-low">
          <summary className="cursor-pointer font-medium">{texts.lineByLine}</summary>
          <div className="pt-3">
            <DiffText label={texts.lineByLine} lines={lines} isDiff />
          </div>
        </details>
      )}
    </>
  );
}

/** What was asked stands above. */
const nameOfBar = (bar: Bar): string =>
  bar.kind === 'prompt' || bar.kind === 'person' ? (texts.kinds[bar.kind] ?? bar.kind) : barName(bar);

/** A step of one side with its length, leading to it; nothing where the other one has it alone. */
function Step({ bar, place }: { bar: Bar | undefined; place: RunPlace }) {
  if (!bar) return <span className="text-ink-faint">{texts.notThere}</span>;
  return (
    <span className="flex flex-wrap items-baseline gap-x-3">
      <Link
        to={runAddress(place)}
        search={stepIn(bar.key) as never}
        className="min-w-0 wrap-anywhere text-accent-ink hover:underline"
      >
        <bdi>{nameOfBar(bar)}</bdi>
      </Link>
      <span className="num text-[0.87rem] text-ink-soft">
        {duration(bar.end - bar.start)}
        {bar.step.spent && bar.step.spent.costMicros > 0 && `, ${money(bar.step.spent.costMicros / 1e6)}`}
        {bar.isError && `, ${texts.outcomes['failed']}`}
      </span>
    </span>
  );
}

function Steps({ sides: [left, right] }: { sides: [Side, Side] }) {
  const pairs = useMemo(() => aligned(left.run.bars, right.run.bars), [left.run, right.run]);
  const { columns, rowKey } = useMemo(
    () => ({
      rowKey: ({ key }: (typeof pairs)[number]) => key,
      columns: [
        {
          key: 'one',
          header: texts.first,
          cell: ({ one }: (typeof pairs)[number]) => <Step bar={one} place={left.place} />,
        },
        {
          key: 'two',
          header: texts.second,
          cell: ({ other }: (typeof pairs)[number]) => <Step bar={other} place={right.place} />,
        },
      ],
    }),
    [left.place, right.place],
  );
  return (
    <Card title={texts.stepsBeside} hint={texts.stepsBesideHint} flush className="overflow-hidden">
      <Table label={texts.stepsBeside} rows={pairs} rowKey={rowKey} empty={null} columns={columns} />
    </Card>
  );
}

function Files({ sides }: { sides: [Side, Side] }) {
  const [one, two] = sides.map(({ run }) => filesUntil(run)) as [string[], string[]];
  const all = [...new Set([...one, ...two])].sort();
  if (all.length === 0) return null;
  const by = (path: string) =>
    one.includes(path) && two.includes(path) ? texts.byBoth : one.includes(path) ? texts.byFirst : texts.bySecond;
  return (
    <Card title={texts.filesBeside} hint={texts.filesBesideHint}>
      <ul className="flex flex-col divide-y divide-line">
        {all.map((path) => (
          <li key={path} className="flex flex-wrap justify-between gap-x-4 py-1.5">
            <bdi className="min-w-0 font-mono text-[0.9rem] break-all">{path}</bdi>
            <span className="text-[0.9rem] text-ink-soft">{by(path)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
