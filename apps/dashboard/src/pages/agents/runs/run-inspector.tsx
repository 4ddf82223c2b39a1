import { web } from '@troupe/contract';
import type { BackgroundTask } from '@troupe/contract';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { money, short } from '../../../format.ts';
import { modelName } from '../../../models.ts';
import { chat } from '../../../texts/agents.ts';
import { runs as texts } from '../../../texts/runs.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Card, Facts } from '../../../ui/card.tsx';
import { EffectView } from '../conversations/approval.tsx';
import { effectOf } from '../conversations/effect.ts';
import { toolLine } from '../conversations/tool-words.ts';
import { barName } from './bar-name.ts';
import { filesUntil, memoriesUntil } from './beside.ts';
import { Block, Words } from './block.tsx';
import { FilesThen } from './file-then.tsx';
import { runAddress } from './run-name.ts';
import type { RunPlace } from './run-name.ts';
import type { Bar, Run } from './waterfall.ts';

function factsOf({ kind, step }: Bar): [string, ReactNode][] {
  if (kind === 'person')
    return step.approved === undefined
      ? []
      : [[texts.kinds['person'] ?? '', step.approved ? texts.allowed : texts.refused]];
  if (kind !== 'model') return [];
  const { model, provider, tokens, spent } = step;
  const facts: [string, ReactNode][] = [
    [texts.model, provider ? texts.servedBy(modelName(model), provider) : modelName(model)],
  ];
  if (tokens) {
    const cached = tokens.cached ? ` (${texts.cached(short(tokens.cached))})` : '';
    facts.push([texts.tokens, texts.counted(short(tokens.in), short(tokens.out)) + cached]);
  }
  if (spent) facts.push([texts.cost, money(spent.costMicros / 1e6)]);
  return facts;
}

/** One step: what it was given, what came of it, and what was there at that moment. */
export function Inspector({
  place: { agentId, sessionId },
  run,
  bar,
  onFork,
}: {
  place: RunPlace;
  run: Run;
  bar: Bar;
  onFork: () => void;
}) {
  if (bar.task) return <Branch agentId={agentId} task={bar.task} />;
  const said = bar.kind === 'tool' ? undefined : (bar.step.content ?? bar.step.summary);
  const calls = (bar.step.toolCalls ?? []).map(({ tool, args }) => toolLine(tool, args));
  const facts = factsOf(bar);
  return (
    <Card
      title={texts.kinds[bar.kind] ?? bar.kind}
      hint={
        bar.kind === 'tool' && (
          <span dir="auto" title={bar.name}>
            {barName(bar)}
          </span>
        )
      }
      actions={
        <Button small onClick={onFork}>
          {texts.fork}
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        {facts.length > 0 && <Facts items={facts} />}
        {said && <Words label={texts.words} text={said} />}
        <Listed title={`${texts.decides}:`} items={calls} />
        {bar.kind === 'tool' && (
          <>
            <EffectView effect={effectOf(bar.name, bar.args ?? '')} />
            <Block label={texts.result} text={bar.step.content ?? ''} />
            <details>
              <summary className="cursor-pointer text-[0.87rem] text-ink-soft">{chat.asJson}</summary>
              <div className="pt-2">
                <Block label={`${bar.name}: ${texts.arguments}`} text={bar.args ?? ''} />
              </div>
            </details>
          </>
        )}
        <Then agentId={agentId} sessionId={sessionId} run={run} bar={bar} />
      </div>
    </Card>
  );
}

/** What was there when the step was over. */
function Then({ agentId, sessionId, run, bar }: { agentId: string; sessionId: string; run: Run; bar: Bar }) {
  const messages = run.bars.filter(
    (one) => (one.kind === 'prompt' || one.kind === 'model') && one.seq <= bar.seq,
  ).length;
  const files = filesUntil(run, bar);
  const memories = memoriesUntil(run, bar);
  return (
    <section className="border-t border-line pt-3 text-[0.9rem] text-ink-soft">
      <h3 className="eyebrow mb-1 font-sans">{texts.then}</h3>
      <p>
        {texts.messages(messages)}.{' '}
        <Link
          className="link"
          to={`/dashboard/agents/${agentId}`}
          search={{ tab: 'chat', c: sessionId, at: bar.seq } as never}
        >
          {texts.readUntil}
        </Link>
      </p>
      <Listed title={`${texts.remembered(memories.length)}:`} items={memories} />
      <FilesThen key={bar.seq} files={files} at={{ agentId, sessionId, seq: bar.seq }} />
    </section>
  );
}

function Listed({ title, items }: { title: string; items: readonly string[] }) {
  if (items.length === 0) return null;
  return (
    <>
      <p className="mt-1">{title}</p>
      <ul className="list-disc pl-5">
        {items.map((item, at) => (
          <li key={`${at} ${item}`} className="wrap-anywhere" dir="auto">
            {item}
          </li>
        ))}
      </ul>
    </>
  );
}

/** What a member does meanwhile, with the way to its own conversation. */
function Branch({ agentId, task }: { agentId: string; task: BackgroundTask }) {
  const stop = useSend(web.background.stop, { refresh: [web.background.list] });
  const params = { id: agentId, taskId: task.id };
  const whole = useCall(web.background.get, { params }, { enabled: task.endedAt !== null });
  const { memberId, memberSession } = task;
  return (
    <Card
      title={texts.kinds['branch'] ?? ''}
      hint={<span dir="auto">{`${task.member}: ${texts.taskStatus[task.status] ?? task.status}`}</span>}
      actions={
        <>
          {memberSession && (
            <LinkButton small to={runAddress({ agentId: memberId, sessionId: memberSession, first: 1 })}>
              {texts.openBranch}
            </LinkButton>
          )}
          {task.status === 'running' && (
            <Button small busy={stop.isPending} onClick={() => stop.mutate({ params })}>
              {texts.stopBranch}
            </Button>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {task.spent && <Facts items={[[texts.cost, money(task.spent.costMicros / 1e6)]]} />}
        <Words label={texts.arguments} text={task.task} />
        {task.status !== 'running' && <Words label={texts.result} text={whole.data?.task.result ?? task.result} />}
      </div>
    </Card>
  );
}
