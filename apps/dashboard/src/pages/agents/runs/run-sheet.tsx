import { useNavigate, useRouter } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import { states } from '../../../texts/common.ts';
import { runs as texts } from '../../../texts/runs.ts';
import { IconButton } from '../../../ui/button.tsx';
import { cx } from '../../../ui/cx.ts';

/** There it stands beside the steps. On what is smaller it comes up from the lower edge, and the steps stay in sight. */
const isBeside = (): boolean => matchMedia('(min-width: 64rem)').matches;

/** Open while the address names a step, so that going back closes it. */
export function useSheet(isOpen: boolean) {
  const navigate = useNavigate();
  const { history } = useRouter();
  const box = useRef<HTMLElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const hasEntry = useRef(false);
  useEffect(() => {
    if (!isOpen || isBeside()) return;
    const from = document.activeElement;
    box.current?.focus({ preventScroll: true });
    return () => {
      hasEntry.current = false;
      if (from instanceof HTMLElement) from.focus({ preventScroll: true });
    };
  }, [isOpen]);
  return {
    box,
    list,
    isOpen,
    /** Whether to choose a step opens it: then there is something to go back to. */
    opens: (): boolean => (hasEntry.current ||= !isOpen && !isBeside()) && !isOpen,
    close: (): boolean => {
      if (!isOpen || isBeside()) return false;
      if (hasEntry.current) history.back();
      else void navigate({ to: '.', search: {} as never, replace: true, resetScroll: false });
      return true;
    },
    /** The step that is looked at is not covered. */
    show: (): void => {
      if (isOpen && !isBeside())
        list.current?.querySelector('[aria-pressed=true]')?.scrollIntoView({ block: 'nearest' });
    },
  };
}

interface Props {
  of: ReturnType<typeof useSheet>;
  /** From 0. */
  at: number;
  steps: number;
  onMove: (by: number) => void;
  children: ReactNode;
}

/** What is in a step. */
export function Sheet({ of: { box, isOpen, close, show }, at, steps, onMove, children }: Props) {
  useEffect(show, [at, isOpen]);
  return (
    <section
      ref={box}
      tabIndex={-1}
      aria-label={texts.at(at + 1, steps)}
      className={cx(
        // Beside many steps it stays in sight, whichever is chosen.
        'min-w-0 outline-none lg:sticky lg:top-4 lg:max-h-[calc(100dvh-2rem)] lg:overflow-y-auto lg:rounded-2xl',
        'max-lg:fixed max-lg:inset-x-0 max-lg:bottom-0 max-lg:z-30 max-lg:max-h-[60dvh] max-lg:overflow-y-auto max-lg:overscroll-contain md:max-lg:left-[15.5rem]',
        'max-lg:rounded-t-2xl max-lg:border-t max-lg:border-line-strong max-lg:bg-surface max-lg:pb-[env(safe-area-inset-bottom)] max-lg:shadow-high max-lg:*:rounded-none max-lg:*:border-0 max-lg:*:shadow-none',
        !isOpen && 'max-lg:hidden',
      )}
    >
      <div className="sticky top-0 z-10 flex items-center gap-1 border-b! border-line bg-surface py-1 ps-5 pe-2 lg:hidden">
        <span className="num me-auto text-[0.87rem] text-ink-soft">{texts.at(at + 1, steps)}</span>
        <Moves at={at} steps={steps} onMove={onMove} />
        <IconButton icon="close" label={states.close} onClick={close} />
      </div>
      {children}
    </section>
  );
}

/** To the step before and after. */
export const Moves = ({ at, steps, onMove }: Pick<Props, 'at' | 'steps' | 'onMove'>) => (
  <>
    <IconButton icon="back" label={texts.before} disabled={at <= 0} onClick={() => onMove(-1)} />
    <IconButton icon="arrow" label={texts.after} disabled={at >= steps - 1} onClick={() => onMove(1)} />
  </>
);
