import { MARK_WORDS, MOST_AT_ONCE, web } from '@troupe/contract';
import { useState } from 'react';
import { useSend } from '../../../api.ts';
import { moment } from '../../../format.ts';
import { inbox as texts } from '../../../texts/access.ts';
import { Button } from '../../../ui/button.tsx';
import { Refused } from '../../../ui/form.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { AnswerForm } from '../conversations/answer-form.tsx';
import { togetherOf } from './alike.ts';
import type { Call } from './alike.ts';
import { LaterChoices } from './put-away.tsx';
import { wordsOf } from './use-marks.ts';
import type { Waiting } from './waiting.ts';

const noted = (what: string, waiting: Waiting): string =>
  `${what && `${what}. `}${wordsOf(waiting)}`.slice(0, MARK_WORDS);

/** Decides, puts off or is done with all that is chosen. */
function useActs(chosen: readonly Waiting[], onDone: () => void) {
  const say = useSay();
  const decide = useSend(web.inbox.decide, {
    refresh: [web.inbox.get, web.notices.list],
    done: ({ decided }, { body }) => {
      const failed = decided.filter(({ error }) => error !== null);
      const what = !body.approved ? texts.refused : body.answer === undefined ? texts.allowed : texts.answered;
      say(texts.severalDone(what, decided.length - failed.length), failed[0]?.error ?? undefined);
      onDone();
    },
  });
  const put = useSend(web.inbox.putSeveral, {
    refresh: [web.inbox.get, web.notices.list],
    done: ({ marks }, { body: { until } }) => {
      say(texts.severalDone(until === undefined ? texts.doneWith : texts.putOff(moment(until)), marks.length));
      onDone();
    },
  });
  const mark = (state: 'later' | 'done', until?: Date) =>
    put.mutate({
      body: {
        items: chosen.map((waiting) => ({ item: waiting.key, words: noted('', waiting) })),
        state,
        ...(until && { until: until.toISOString() }),
      },
    });
  const settle = (calls: readonly Call[], approved: boolean, answer?: string) => {
    const what = !approved ? texts.refused : answer === undefined ? texts.allowed : texts.answered;
    const items = calls.map((one) => ({ id: one.item.id, agentId: one.item.agentId, words: noted(what, one) }));
    decide.mutate({ body: { items, approved, ...(answer !== undefined && { answer }) } });
  };
  return { mark, settle, busy: decide.isPending || put.isPending, error: decide.error ?? put.error };
}

/** Stands below the list as long as something in it is chosen. The keys of a card mean all of them then. */
export function SeveralBar({ chosen, onDone }: { chosen: readonly Waiting[]; onDone: () => void }) {
  const acts = useActs(chosen, onDone);
  const [asks, setAsks] = useState<'later' | 'answer'>();
  const { calls, areQuestions, unlike } = togetherOf(chosen);
  const isTooMany = chosen.length > MOST_AT_ONCE;
  const { busy } = acts;
  const n = chosen.length;
  return (
    <section
      aria-label={texts.several}
      className="sticky bottom-4 z-10 mt-4 flex max-w-3xl flex-col gap-3 rounded-2xl border border-line-strong bg-surface p-4 shadow-high max-md:bottom-20"
    >
      <div className="flex flex-wrap items-center gap-2">
        <strong className="me-2" aria-live="polite">
          {texts.chosen(n)}
        </strong>
        <Button
          small
          kind="primary"
          data-many="a"
          disabled={busy || isTooMany || unlike !== undefined}
          onClick={() => (areQuestions ? setAsks('answer') : calls && acts.settle(calls, true))}
        >
          {areQuestions ? texts.answerAll(n) : texts.allowAll(n)}
        </Button>
        <Button
          small
          data-many="r"
          disabled={busy || isTooMany || !calls}
          onClick={() => calls && acts.settle(calls, false)}
        >
          {texts.refuseAll(n)}
        </Button>
        <Button small data-many="s" disabled={busy || isTooMany} onClick={() => setAsks('later')}>
          {texts.later}
        </Button>
        <Button small data-many="e" disabled={busy || isTooMany} onClick={() => acts.mark('done')}>
          {texts.done}
        </Button>
        <Button small kind="quiet" onClick={onDone}>
          {texts.chooseNone}
        </Button>
      </div>
      {asks === 'later' && <LaterChoices onChoose={(at) => acts.mark('later', at)} onBack={() => setAsks(undefined)} />}
      {asks === 'answer' && areQuestions && (
        <AnswerForm
          label={texts.oneAnswer}
          action={texts.sendToAll}
          busy={busy}
          autoFocus
          onSend={(answer) => calls && acts.settle(calls, true, answer)}
        />
      )}
      {(isTooMany || unlike !== undefined) && (
        <p className="text-[0.9rem] text-ink-soft">{isTooMany ? texts.tooMany(MOST_AT_ONCE) : unlike}</p>
      )}
      <Refused error={acts.error} />
    </section>
  );
}
