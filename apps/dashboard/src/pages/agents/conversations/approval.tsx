import { chat as texts } from '../../../texts/agents.ts';
import type { Decide } from './decide.ts';
import { Answers } from './deciding.tsx';
import { effectOf, seen } from './effect.ts';
import type { Effect } from './effect.ts';
import { FileEffect, WholeFile } from './file-effect.tsx';

function titleOf(effect: Effect, tool: string): string {
  const { wants } = texts;
  switch (effect.kind) {
    case 'file':
    case 'edit':
    case 'remove':
      return wants[effect.kind](effect.path);
    case 'move':
      return wants.move(effect.from, effect.to);
    case 'command':
      return wants.command;
    case 'page':
      return wants.page;
    case 'task':
      return wants.task(effect.to);
    case 'other':
      return wants.other(tool);
  }
}

/** What a call that waits would do, in a line. */
export const approvalTitle = (tool: string, args: string): string => titleOf(seen(effectOf(tool, args)), tool);

const BOX = 'max-h-60 overflow-auto rounded-lg border border-line bg-surface px-3 py-2 font-mono text-[0.85rem]';

/**
 * What the call would do, shown as what it changes; never as JSON alone. `agentId`: it is still to be decided, so that a
 * file is shown beside the one that is there.
 */
export function EffectView({ effect: given, agentId }: { effect: Effect; agentId?: string }) {
  const effect = seen(given);
  if (given.kind === 'file') {
    const file = { path: given.path, text: given.text, look: BOX };
    return agentId === undefined ? <WholeFile {...file} /> : <FileEffect {...file} agentId={agentId} />;
  }
  if (effect.kind === 'edit') {
    return (
      <div className={BOX} tabIndex={0}>
        {effect.edits.map(({ before, after }, index) => (
          <div key={index} className="break-words whitespace-pre-wrap" dir="auto">
            <del className="block text-danger no-underline">{signed('−', before)}</del>
            <ins className="block text-ok no-underline">{signed('+', after)}</ins>
          </div>
        ))}
      </div>
    );
  }
  if (effect.kind === 'command') {
    return (
      <div>
        <pre className={`${BOX} break-words whitespace-pre-wrap`} tabIndex={0}>
          {effect.command}
        </pre>
        {effect.folder && <p className="mt-1 text-[0.85rem] text-ink-soft">{texts.inFolder(effect.folder)}</p>}
      </div>
    );
  }
  if (effect.kind === 'page') return <p className={`${BOX} break-all`}>{effect.url}</p>;
  if (effect.kind === 'task') {
    return (
      <p className={`${BOX} whitespace-pre-wrap`} dir="auto">
        {effect.task}
        {effect.expected && `\n\n${texts.expected}: ${effect.expected}`}
      </p>
    );
  }
  if (effect.kind !== 'other') return null;
  return (
    <dl className={BOX} tabIndex={0}>
      {effect.fields.map(([name, value]) => (
        <div key={name} className="break-words whitespace-pre-wrap" dir="auto">
          {name && <dt className="inline text-ink-faint">{name}: </dt>}
          <dd className="inline">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const signed = (sign: string, text: string): string =>
  text
    .split('\n')
    .map((line) => `${sign} ${line}`)
    .join('\n');

/** A call that waits for its owner: what it would do, and the answers to it. */
export function Approval({
  agentId,
  approvalId,
  tool,
  args,
  deciding,
  onDecide,
}: {
  agentId: string;
  approvalId: string;
  tool: string;
  args: string;
  deciding: boolean;
  onDecide: Decide;
}) {
  const effect = effectOf(tool, args);
  const title = titleOf(seen(effect), tool);
  return (
    <div role="group" aria-label={title} className="flex min-w-0 flex-col gap-2">
      <p className="font-medium break-words" dir="auto">
        {title}
      </p>
      <EffectView effect={effect} agentId={agentId} />
      <Answers
        agentId={agentId}
        approvalId={approvalId}
        tool={tool}
        args={args}
        deciding={deciding}
        onDecide={onDecide}
      />
    </div>
  );
}
