import { useEffect, useRef } from 'react';
import type { KeyboardEvent } from 'react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { moment } from '../../../format.ts';
import { inbox as texts } from '../../../texts/access.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { isForPage, usePageKeys } from '../../../ui/keys.ts';
import { Page } from '../../../ui/page.tsx';
import { Empty, Failure, Loaded } from '../../../ui/states.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { DoneList } from './done-list.tsx';
import { WaitingCard } from './items.tsx';
import { useUndo } from './use-marks.ts';
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
    undo(marks[0]);
    return true;
  });
  const bringBack = (item: string) => undo(marks.find((mark) => mark.item === item));
  return (
    <Page
      title={texts.title}
      lead={items.length > 0 ? <Lead waiting={items.length} /> : texts.lead}
      actions={
        <>
          {marks[0] && canUndo(marks[0]) && (
            <Button small kind="quiet" aria-label={texts.undoNamed(marks[0].words)} onClick={() => undo(marks[0])}>
              {texts.undo}
            </Button>
          )}
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

const CARD = 'rounded-2xl border border-line bg-surface p-5 shadow-low';

/** Keys that act on the card with the focus. */
const ACTS = new Set(['a', 'A', 'r', 's', 'e']);
/** Those that ask something first: the focus goes there. */
const ASKING = new Set(['A', 's']);

function WaitingList({ items }: { items: Waiting[] }) {
  const list = useRef<HTMLUListElement>(null);
  // The keys belong to the card with the focus: the first has it, and the next when one is gone.
  const hasEntered = useRef(false);
  const { item } = useSearch({ strict: false }) as { item?: string };
  useEffect(() => {
    if (items.length === 0 || (hasEntered.current && document.activeElement !== document.body)) return;
    const named = hasEntered.current ? -1 : items.findIndex(({ item: { id } }) => id === item);
    hasEntered.current = true;
    (list.current?.children[Math.max(0, named)] as HTMLElement | undefined)?.focus();
  }, [items.length]);
  const onKey = (event: KeyboardEvent) => {
    if (!isForPage(event.nativeEvent)) return;
    const cards = [...(list.current?.children ?? [])] as HTMLElement[];
    const at = cards.findIndex((card) => card.contains(document.activeElement));
    if (event.key === 'j' || event.key === 'ArrowDown') cards[Math.min(cards.length - 1, at + 1)]?.focus();
    else if (event.key === 'k' || event.key === 'ArrowUp') cards[Math.max(0, at - 1)]?.focus();
    else if (ACTS.has(event.key)) {
      const button = cards[at]?.querySelector<HTMLElement>(`[data-act=${event.key}]`);
      if (button?.dataset['money'] !== undefined) button.focus();
      else {
        button?.click();
        // The card goes; the next one takes its place.
        if (!ASKING.has(event.key)) cards[at + 1]?.focus();
      }
    } else return;
    event.preventDefault();
  };
  if (items.length === 0) return <Empty title={texts.empty}>{texts.emptyHint}</Empty>;
  return (
    <ul ref={list} className="flex max-w-3xl flex-col gap-4" onKeyDown={onKey}>
      {items.map((waiting) => (
        <li key={waiting.key} tabIndex={0} className={CARD}>
          <WaitingCard waiting={waiting} />
        </li>
      ))}
    </ul>
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
