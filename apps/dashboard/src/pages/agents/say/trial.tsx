import { TRIED_SECONDS, web } from '@troupe/contract';
import type { SaidPlan } from '@troupe/contract';
import { useEffect, useRef } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { duration, money } from '../../../format.ts';
import { say as texts } from '../../../texts/say.ts';
import { Button } from '../../../ui/button.tsx';
import { Refused } from '../../../ui/form.tsx';
import { Markdown } from '../../../ui/markdown.tsx';
import { toolLine } from '../conversations/tool-words.ts';
import { costNow } from './draft.ts';
import type { Draft } from './draft.ts';

type Trial = ReturnType<typeof useTrial>;

/** Beyond the trial's own time, for those who wait for their turn. */
const WAIT_MS = (TRIED_SECONDS + 60) * 1000;

/** One trial at a time; leaving the page ends it. */
export function useTrial() {
  const leaving = useRef<AbortController>(undefined);
  const send = useSend(web.say.tryOnce, { refresh: [web.usage.getCosts] });
  useEffect(() => () => leaving.current?.abort(), []);
  return {
    ...send,
    start(plan: SaidPlan) {
      leaving.current = new AbortController();
      send.mutate({ body: plan, timeout: WAIT_MS, signal: leaving.current.signal });
    },
    stop() {
      leaving.current?.abort();
      send.reset();
    },
  };
}

/** With what it is likely to cost, as far as that is known. */
export function TryButton({ planned, trial }: { planned: NonNullable<Draft['planned']>; trial: Trial }) {
  const models = useCall(web.models.list, {}).data?.models;
  const cost = models && costNow(planned, models, new Date());
  if (trial.isPending) return <Button onClick={trial.stop}>{texts.stopTrying}</Button>;
  return (
    <Button icon="play" onClick={() => trial.start(planned.plan)}>
      {cost ? texts.tryFor(money(cost.high)) : texts.tryOnce}
    </Button>
  );
}

/** What came of it. */
export function Tried({ trial, plan }: { trial: Trial; plan: SaidPlan }) {
  const { data, error, isPending, variables } = trial;
  const shown = useRef<HTMLElement>(null);
  // Whoever asked for it sees it, wherever the page stands.
  useEffect(() => {
    shown.current?.scrollIntoView({ block: 'nearest' });
  }, [data, error, isPending]);
  if (!data && !error && !isPending) return null;
  const title = variables && isSame(variables.body, plan) ? texts.tried : texts.triedBefore;
  return (
    <section
      ref={shown}
      aria-label={texts.tried}
      className="scroll-mb-24 rounded-xl border border-line bg-sunken/50 p-4"
    >
      <p role="status" className={isPending ? 'text-ink-soft' : 'sr-only'}>
        {isPending ? `${texts.trying} ${texts.tryingHint}` : data ? title : ''}
      </p>
      <Refused error={error} />
      {data && <Outcome data={data} title={title} />}
    </section>
  );
}

const isSame = (one: SaidPlan, other: SaidPlan): boolean => JSON.stringify(one) === JSON.stringify(other);

function Outcome({ data, title }: { data: NonNullable<Trial['data']>; title: string }) {
  const { answer, reason, calls, costUsd, seconds } = data;
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <p>
        <span className="block font-medium">{title}</span>
        <span className="num text-[0.87rem] text-ink-soft">
          {texts.triedIn(duration(seconds * 1000), money(costUsd))}
        </span>
      </p>
      {reason !== null && <p className="text-danger">{reason}</p>}
      <div className="max-h-96 min-w-0 overflow-auto break-words" dir="auto" tabIndex={0}>
        {answer === '' ? <p className="text-ink-soft">{texts.noAnswer}</p> : <Markdown text={answer} />}
      </div>
      {calls.length > 0 && <Calls calls={calls} />}
    </div>
  );
}

function Calls({ calls }: Pick<NonNullable<Trial['data']>, 'calls'>) {
  return (
    <div className="text-[0.87rem]">
      <p className="eyebrow mb-1">{texts.used}</p>
      <ul className="flex flex-col gap-1 text-ink-soft">
        {calls.map(({ tool, args, isError, isRun }, place) => (
          // oxlint-disable-next-line react/no-array-index-key -- they never change
          <li key={place} className="break-words" dir="auto">
            {toolLine(tool, args)}
            {!isRun ? ` (${texts.notRun})` : isError && ` (${texts.failed})`}
          </li>
        ))}
      </ul>
    </div>
  );
}
