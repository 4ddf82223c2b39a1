import { startTransition, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { RefObject } from 'react';
import { piecesOf, rangeOf, startsOf } from './rows-in-sight.ts';
import type { Piece, Sight } from './rows-in-sight.ts';

/** From this many rows on only those in sight are in the document. */
const MANY = 80;

interface Wanted {
  /** What scrolls. */
  scroller: RefObject<HTMLElement | null>;
  /** What holds the rows, somewhere in it. */
  list: RefObject<HTMLElement | null>;
  keys: readonly string[];
  /** Of a row, until the first one was measured. */
  height: number;
}

/** Heights as they are drawn, by the key in `data-row`. What is not drawn yet is taken to be as high as the first that was. */
function useHeights(keys: readonly string[], guess: number) {
  const known = useRef(new Map<string, number>());
  const [version, setVersion] = useState(0);
  const observer = useRef<ResizeObserver>(undefined);
  const measure = useCallback((node: HTMLElement | null) => {
    if (!node) return;
    observer.current ??= new ResizeObserver((entries) => {
      let isNew = false;
      for (const { target, borderBoxSize } of entries) {
        const [key, height] = [(target as HTMLElement).dataset['row'], borderBoxSize[0]?.blockSize ?? 0];
        if (!key || height === 0 || known.current.get(key) === height) continue;
        known.current.set(key, height);
        isNew = true;
      }
      if (isNew) startTransition(() => setVersion((old) => old + 1));
    });
    const watching = observer.current;
    watching.observe(node);
    return () => watching.unobserve(node);
  }, []);
  useEffect(() => () => observer.current?.disconnect(), []);
  const starts = useMemo(() => {
    const usual = version === 0 ? guess : (known.current.values().next().value ?? guess);
    return startsOf(keys.map((key) => known.current.get(key) ?? usual));
  }, [keys, guess, version]);
  return { starts, measure };
}

/** Of a pause in a flight over rows, before they are drawn. */
const CALM_MS = 50;
/** A flight without a pause shows something this often. */
const LONGEST_MS = 200;

/**
 * Tells where the view is: at once where something that was drawn is still in sight, and at the end of a flight
 * otherwise. Who flies past rows cannot read them, and drawing them all would hold the flight up.
 */
function followSight(outer: HTMLElement, inner: HTMLElement, tell: (sight: Sight) => void) {
  let drawn = -Infinity;
  let flying: { since: number; timer: ReturnType<typeof setTimeout> } | undefined;
  const read = (): Sight => {
    const [around, rows] = [outer.getBoundingClientRect(), inner.getBoundingClientRect()];
    return { top: Math.max(0, around.top - rows.top), height: around.height };
  };
  const draw = (sight: Sight) => {
    clearTimeout(flying?.timer);
    flying = undefined;
    drawn = sight.top;
    tell(sight);
  };
  const look = () => {
    const sight = read();
    if (drawn === -Infinity || Math.abs(sight.top - drawn) <= sight.height) return draw(sight);
    const now = performance.now();
    const since = flying?.since ?? now;
    clearTimeout(flying?.timer);
    const wait = Math.max(0, Math.min(CALM_MS, since + LONGEST_MS - now));
    flying = { since, timer: setTimeout(() => draw(read()), wait) };
  };
  return { look, stop: () => clearTimeout(flying?.timer) };
}

/**
 * The pieces of a list: all rows of a short one; of a long one those in sight, and room for the rest. They are drawn in
 * between what is more urgent, so that a quick turn of the wheel never waits for them. The row with the focus stays.
 */
export function useInSight({ scroller, list, keys, height }: Wanted) {
  const isMany = keys.length > MANY;
  const { starts, measure } = useHeights(keys, height);
  const [sight, setSight] = useState({ top: 0, height: globalThis.innerHeight });
  const [focused, setFocused] = useState('');
  useEffect(() => {
    const [outer, inner] = [scroller.current, list.current];
    if (!isMany || !outer || !inner) return;
    const { look, stop } = followSight(outer, inner, (next) =>
      startTransition(() => setSight((old) => (old.top === next.top && old.height === next.height ? old : next))),
    );
    const focus = ({ target }: FocusEvent) =>
      setFocused((target as Element).closest<HTMLElement>('[data-row]')?.dataset['row'] ?? '');
    const resized = new ResizeObserver(look);
    resized.observe(outer);
    outer.addEventListener('scroll', look, { passive: true });
    inner.addEventListener('focusin', focus);
    return () => {
      stop();
      resized.disconnect();
      outer.removeEventListener('scroll', look);
      inner.removeEventListener('focusin', focus);
    };
  }, [isMany, scroller, list]);
  const [from, to] = isMany ? rangeOf(starts, sight) : [0, keys.length];
  const kept = isMany && focused ? keys.indexOf(focused) : -1;
  const pieces = useMemo<Piece[]>(() => piecesOf(starts, [from, to], kept), [starts, from, to, kept]);
  return { pieces, isMany, measure };
}
