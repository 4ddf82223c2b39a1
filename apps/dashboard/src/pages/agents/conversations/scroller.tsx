import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { ReactNode, UIEvent } from 'react';
import { chat as texts } from '../../../texts/agents.ts';
import { Button } from '../../../ui/button.tsx';
import { countAfter, lastStepIn, NewFrom, noteSeen, seenIn } from './seen.ts';
import type { LeftOff } from './seen.ts';

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

interface Reading {
  held: Held;
  content: { current: HTMLElement | null };
  /** The conversation; empty: there is none yet. */
  of: string;
}

/** Where somebody left off when they came, and a note of how far they are now. */
function useLeftOff({ held: { follows }, content, of }: Reading) {
  const noted = useRef(0);
  const leftOff = useMemo<LeftOff | undefined>(() => {
    const seq = of === '' ? undefined : seenIn(of);
    return seq === undefined ? undefined : { seq, at: Date.now() };
  }, [of]);
  const note = useCallback(() => {
    const node = content.current;
    // A page that goes is hidden when nothing of it is there any more.
    if (!node || of === '' || !follows.current || document.visibilityState !== 'visible') return;
    const last = lastStepIn(node);
    if (last <= noted.current) return;
    noted.current = last;
    noteSeen(of, last);
  }, [of, follows, content]);
  useEffect(() => {
    document.addEventListener('visibilitychange', note);
    return () => document.removeEventListener('visibilitychange', note);
  }, [note]);
  // What takes the place of what was being written is as high as that.
  useEffect(note);
  return { leftOff, note };
}

const isNearEnd = (node: HTMLElement): boolean => node.scrollHeight - node.scrollTop - node.clientHeight < NEAR;

/** Stays at the end while somebody is there; to whoever is not, `below` says that something has come, and how much. */
function useFollow({ held: { box, height, follows }, content }: Reading, onRead: () => void) {
  const [below, setBelow] = useState<number>();
  const seen = useRef(0);
  const read = useCallback(() => {
    seen.current = lastStepIn(content.current!);
    setBelow(undefined);
    onRead();
  }, [content, onRead]);
  const toEnd = useCallback(() => {
    box.current?.scrollTo({ top: box.current.scrollHeight });
    follows.current = true;
    read();
  }, [box, follows, read]);
  const look = (node: HTMLElement) => {
    follows.current = isNearEnd(node);
    if (follows.current) read();
  };
  // What is taken away has lost its size before an effect ends, and would be looked at once more.
  useLayoutEffect(() => {
    const node = box.current!;
    const watch = new ResizeObserver(() => {
      const grew = node.scrollHeight > height.current + 1;
      height.current = node.scrollHeight;
      if (follows.current) toEnd();
      else if (seen.current === 0) seen.current = lastStepIn(content.current!);
      else if (grew) setBelow(countAfter(content.current!, seen.current));
    });
    watch.observe(content.current!);
    watch.observe(node);
    return () => watch.disconnect();
  }, [toEnd, box, height, follows, content]);
  // What takes the place of what was being written may be as high as that: no change of size tells of it.
  useLayoutEffect(() => {
    if (follows.current) seen.current = lastStepIn(content.current!);
    else setBelow((count) => (count === undefined ? count : countAfter(content.current!, seen.current)));
  });
  return { below, toEnd, look };
}

/**
 * A conversation that opens at its end and follows it only while somebody is there. What is put before the first entry
 * moves nothing that is on screen.
 */
export function Scroller({
  of,
  first,
  hasOlder,
  onOlder,
  goTo,
  children,
}: {
  /** The conversation; empty: there is none yet. */
  of: string;
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
  const reading: Reading = { held, content, of };
  const { leftOff, note } = useLeftOff(reading);
  const { below, toEnd, look } = useFollow(reading, note);
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
          <NewFrom value={leftOff}>{children}</NewFrom>
        </div>
      </div>
      {below !== undefined && (
        <Button small icon="down" className="absolute bottom-2 left-1/2 -translate-x-1/2 shadow-high" onClick={toEnd}>
          {texts.newBelow(below)}
        </Button>
      )}
    </div>
  );
}
