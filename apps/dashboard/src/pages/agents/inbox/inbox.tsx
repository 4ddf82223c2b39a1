import type { InboxMark } from '@troupe/contract';
import { useEffect, useRef } from 'react';
import type { KeyboardEvent } from 'react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { moment } from '../../../format.ts';
import { inbox as texts } from '../../../texts/access.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { cx } from '../../../ui/cx.ts';
import { isForPage, usePageKeys } from '../../../ui/keys.ts';
import { Page } from '../../../ui/page.tsx';
import { Empty, Failure, Loaded } from '../../../ui/states.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { DoneList } from './done-list.tsx';
import { WaitingCard } from './items.tsx';
import { SeveralBar } from './several.tsx';
import { lastMarks, useUndo, wordsOf } from './use-marks.ts';
import { useSeveral } from './use-several.ts';
import { useWaiting } from './use-waiting.ts';
import { canUndo } from './waiting.ts';
import type { PutOff, Waiting } from './waiting.ts';

/** All that waits for a decision, worked through without a mouse. */
export default function Inbox() {
  const { items, later, marks, read } = useWaiting();
  const undo = useUndo();
  const { show = 'waiting' } = useSearch({ strict: false }) as { show?: string };
  const navigate = useNavigate();
  usePageKeys((key) => {
    if (key !== 'u') return false;
    undo(...lastMarks(marks));
    return true;
  });
  const bringBack = (item: string) => undo(...marks.filter((mark) => mark.item === item));
  return (
    <Page
      title={texts.title}
      lead={items.length > 0 ? <Lead waiting={items.length} /> : texts.lead}
      actions={
        <>
          <UndoButton marks={marks} onUndo={undo} />
          <LinkButton
            small
            kind="quiet"
            icon="bell"
            to="/dashboard/settings"
            search={{ tab: 'notifications' } as never}
          >
            {texts.push}
          </LinkButton>
        </>
      }
    >
      {/* What is known stands there, whatever else is still to come or has failed. */}
      {items.length > 0 && read.error && <Failure error={read.error} retry={read.refetch} />}
      <Loaded from={items.length > 0 ? { ...read, data: true } : read}>
        {() => (
          <Tabs
            label={texts.views}
            value={show}
            onChange={(next) => void navigate({ to: '.', search: { show: next } as never })}
            tabs={[
              { key: 'waiting', label: texts.waitingView(items.length), content: () => <WaitingList items={items} /> },
              {
                key: 'later',
                label: texts.laterView(later.length),
                content: () => <LaterList later={later} onBack={bringBack} />,
              },
              { key: 'done', label: texts.doneView, content: () => <DoneList marks={marks} onUndo={undo} /> },
            ]}
          />
        )}
      </Loaded>
    </Page>
  );
}

function UndoButton({ marks, onUndo }: { marks: readonly InboxMark[]; onUndo: (...marks: InboxMark[]) => void }) {
  const [first] = marks;
  if (!first || !canUndo(first)) return null;
  return (
    <Button small kind="quiet" aria-label={texts.undoNamed(first.words)} onClick={() => onUndo(...lastMarks(marks))}>
      {texts.undo}
    </Button>
  );
}

const CARD = 'rounded-2xl border border-line bg-surface p-5 shadow-low';

/** Keys that act on the card with the focus, or on all that are chosen. */
const ACTS = new Set(['a', 'A', 'r', 's', 'e']);
/** Those that ask something first: the focus goes there. */
const ASKING = new Set(['A', 's']);

function actOn(cards: readonly HTMLElement[], at: number, key: string): void {
  const button = cards[at]?.querySelector<HTMLElement>(`[data-act=${key}]`);
  if (button?.dataset['money'] !== undefined) return button.focus();
  button?.click();
  // The card goes; the next one takes its place.
  if (!ASKING.has(key)) cards[at + 1]?.focus();
}

function WaitingList({ items }: { items: Waiting[] }) {
  const list = useRef<HTMLUListElement>(null);
  const several = useSeveral(items);
  const isSeveral = several.chosen.length > 0;
  // The keys belong to the card with the focus: the first has it, and the next when one is gone.
  const hasEntered = useRef(false);
  const { item } = useSearch({ strict: false }) as { item?: string };
  useEffect(() => {
    if (items.length === 0 || (hasEntered.current && document.activeElement !== document.body)) return;
    const named = hasEntered.current ? -1 : items.findIndex(({ item: { id } }) => id === item);
    hasEntered.current = true;
    (list.current?.children[Math.max(0, named)] as HTMLElement | undefined)?.focus();
  }, [items.length]);
  const onKey = (event: KeyboardEvent<HTMLElement>) => {
    if (!isForPage(event.nativeEvent)) return;
    const cards = [...(list.current?.children ?? [])] as HTMLElement[];
    const at = cards.findIndex((card) => card.contains(document.activeElement));
    const { key } = event;
    if (key === 'j' || key === 'ArrowDown') cards[Math.min(cards.length - 1, at + 1)]?.focus();
    else if (key === 'k' || key === 'ArrowUp') cards[Math.max(0, at - 1)]?.focus();
    else if ((key === 'x' || key === 'X') && items[at]) several[key === 'x' ? 'toggle' : 'addAlike'](items[at]);
    else if (key === 'Escape' && isSeveral) several.clear();
    else if (!ACTS.has(key)) return;
    else if (isSeveral) event.currentTarget.querySelector<HTMLElement>(`[data-many=${key}]`)?.click();
    else actOn(cards, at, key);
    event.preventDefault();
  };
  if (items.length === 0) return <Empty title={texts.empty}>{texts.emptyHint}</Empty>;
  return (
    <div onKeyDown={onKey}>
      <ul ref={list} className="flex max-w-3xl flex-col gap-4">
        {items.map((waiting) => (
          <li
            key={waiting.key}
            tabIndex={0}
            className={cx(CARD, 'relative', several.has(waiting) && 'border-accent ring-1 ring-accent')}
          >
            {items.length > 1 && <Choose waiting={waiting} several={several} />}
            <WaitingCard waiting={waiting} />
          </li>
        ))}
      </ul>
      {isSeveral && <SeveralBar chosen={several.chosen} onDone={several.clear} />}
    </div>
  );
}

/** Chooses a card, so that several are decided at once. The focus goes back to the card, where the keys are heard. */
function Choose({ waiting, several }: { waiting: Waiting; several: ReturnType<typeof useSeveral> }) {
  return (
    <label className="absolute end-2 top-2 grid size-11 cursor-pointer place-items-center">
      <span className="sr-only">{texts.choose(wordsOf(waiting))}</span>
      <input
        type="checkbox"
        className="size-4.5 accent-accent"
        checked={several.has(waiting)}
        onChange={({ target }) => {
          several.toggle(waiting);
          target.closest('li')?.focus();
        }}
      />
    </label>
  );
}

/** What was put off. It can be decided all the same. */
function LaterList({ later, onBack }: { later: PutOff[]; onBack: (item: string) => void }) {
  if (later.length === 0) return <Empty title={texts.noLater}>{texts.noLaterHint}</Empty>;
  return (
    <ul className="flex max-w-3xl flex-col gap-4">
      {later.map((waiting) => (
        <li key={waiting.key} className={CARD}>
          <p className="mb-3 flex flex-wrap items-center justify-between gap-2 text-[0.9rem] text-ink-soft">
            {texts.comesBack(moment(waiting.until))}
            <Button small onClick={() => onBack(waiting.key)}>
              {texts.bringBack}
            </Button>
          </p>
          <WaitingCard waiting={waiting} />
        </li>
      ))}
    </ul>
  );
}

/** The keys are told to who has them. */
function Lead({ waiting }: { waiting: number }) {
  return (
    <>
      {texts.waiting(waiting)}. <span className="pointer-coarse:hidden">{texts.keys}</span>
    </>
  );
}
