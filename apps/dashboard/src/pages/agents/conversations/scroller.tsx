import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { ReactNode, UIEvent } from 'react';
import { chat as texts } from '../../../texts/agents.ts';
import { Button } from '../../../ui/button.tsx';

/** So near to its end somebody reads along. */
const NEAR = 80;
/** So near to its top more is read. */
const AHEAD = 600;

interface Held {
  box: { current: HTMLDivElement | null };
  height: { current: number };
  follows: { current: boolean };
}

/** What is put before the first entry moves nothing that is on screen. */
function useSteady(first: string, { box, height, follows }: Held): void {
  const known = useRef(first);
  useLayoutEffect(() => {
    const node = box.current!;
    if (known.current !== first && known.current !== '' && !follows.current)
      node.scrollTop += node.scrollHeight - height.current;
    known.current = first;
    height.current = node.scrollHeight;
  }, [first, box, height, follows]);
}

interface Finding {
  first: string;
  hasOlder: boolean;
  onOlder: () => Promise<void>;
  follows: { current: boolean };
}

/** Goes to an entry once: who has found it may scroll away from it. */
function useGoTo(goTo: string | undefined, { first, hasOlder, onOlder, follows }: Finding): void {
  const gone = useRef('');
  useEffect(() => {
    if (goTo === undefined || gone.current === goTo) return;
    const found = document.getElementById(goTo);
    if (found || hasOlder) follows.current = false;
    if (!found) return void (hasOlder && onOlder());
    gone.current = goTo;
    found.scrollIntoView({ block: 'center' });
    found.focus({ preventScroll: true });
  }, [goTo, first, hasOlder, onOlder, follows]);
}

/** Stays at the end while somebody is there; to whoever is not, `isNew` says that something has come below. */
function useFollow({ box, height, follows }: Held, content: { current: HTMLElement | null }) {
  const [isNew, setNew] = useState(false);
  const toEnd = useCallback(() => {
    box.current?.scrollTo({ top: box.current.scrollHeight });
    follows.current = true;
    setNew(false);
  }, [box, follows]);
  const look = (node: HTMLElement) => {
    follows.current = node.scrollHeight - node.scrollTop - node.clientHeight < NEAR;
    if (follows.current) setNew(false);
  };
  useEffect(() => {
    const node = box.current!;
    const watch = new ResizeObserver(() => {
      const grew = node.scrollHeight > height.current + 1;
      height.current = node.scrollHeight;
      if (follows.current) toEnd();
      else if (grew) setNew(true);
    });
    watch.observe(content.current!);
    watch.observe(node);
    return () => watch.disconnect();
  }, [toEnd, box, height, follows, content]);
  return { isNew, toEnd, look };
}

/**
 * A conversation that opens at its end and follows it only while somebody is there. What is put before the first entry
 * moves nothing that is on screen.
 */
export function Scroller({
  first,
  hasOlder,
  onOlder,
  goTo,
  children,
}: {
  /** Names the first entry: when it is another one, something was put before it. */
  first: string;
  hasOlder: boolean;
  onOlder: () => Promise<void>;
  /** The element that is looked for; earlier pages are read until it is there. */
  goTo?: string | undefined;
  children: ReactNode;
}) {
  const content = useRef<HTMLDivElement>(null);
  const held: Held = { box: useRef(null), height: useRef(0), follows: useRef(true) };
  const { box, follows } = held;
  useSteady(first, held);
  useGoTo(goTo, { first, hasOlder, onOlder, follows });
  const { isNew, toEnd, look } = useFollow(held, content);
  const onScroll = ({ currentTarget: node }: UIEvent<HTMLElement>) => {
    look(node);
    if (hasOlder && node.scrollTop < AHEAD) void onOlder();
  };
  return (
    <div className="relative mb-4 flex min-h-0 flex-1 flex-col">
      <div
        ref={box}
        role="log"
        aria-label={texts.label}
        tabIndex={0}
        onScroll={onScroll}
        className="min-h-0 flex-1 overflow-y-auto rounded-lg pr-1 [overflow-anchor:none]"
      >
        <div ref={content} className="flex min-h-full flex-col gap-4">
          {children}
        </div>
      </div>
      {isNew && (
        <Button small icon="down" className="absolute bottom-2 left-1/2 -translate-x-1/2 shadow-high" onClick={toEnd}>
          {texts.newBelow}
        </Button>
      )}
    </div>
  );
}
