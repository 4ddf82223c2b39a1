import { useEffect, useRef } from 'react';
import type { KeyboardEvent } from 'react';
import { useSearch } from '@tanstack/react-router';
import { inbox as texts } from '../../../texts/access.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { isForPage } from '../../../ui/keys.ts';
import { Page } from '../../../ui/page.tsx';
import { Empty, Loaded } from '../../../ui/states.tsx';
import { WaitingCard } from './items.tsx';
import { useWaiting } from './use-waiting.ts';

/** All that waits for a decision, worked through without a mouse. */
export default function Inbox() {
  const { items, read } = useWaiting();
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
    else if (['a', 'A', 'r', 'e'].includes(event.key)) {
      const button = cards[at]?.querySelector<HTMLElement>(`[data-act=${event.key}]`);
      if (button?.dataset['money'] !== undefined) button.focus();
      // What it holds for is chosen first: the focus goes there.
      else if (event.key === 'A') button?.click();
      else {
        button?.click();
        // The card goes; the next one takes its place.
        cards[at + 1]?.focus();
      }
    } else return;
    event.preventDefault();
  };
  return (
    <Page
      title={texts.title}
      lead={items.length > 0 ? <Lead waiting={items.length} /> : texts.lead}
      actions={
        <LinkButton small kind="quiet" icon="bell" to="/dashboard/settings" search={{ tab: 'notifications' } as never}>
          {texts.push}
        </LinkButton>
      }
    >
      <Loaded from={read}>
        {() =>
          items.length === 0 ? (
            <Empty title={texts.empty}>{texts.emptyHint}</Empty>
          ) : (
            <ul ref={list} className="flex max-w-3xl flex-col gap-4" onKeyDown={onKey}>
              {items.map((waiting) => (
                <li key={waiting.key} tabIndex={0} className="rounded-2xl border border-line bg-surface p-5 shadow-low">
                  <WaitingCard waiting={waiting} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Page>
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
