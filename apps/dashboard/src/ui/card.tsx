import type { ReactNode } from 'react';
import { useConnection } from '../live/context.tsx';
import { cx } from './cx.ts';

export function Card({
  title,
  hint,
  actions,
  flush,
  fill,
  className,
  children,
}: {
  title?: ReactNode;
  hint?: ReactNode;
  actions?: ReactNode;
  /** No padding around the content: for tables. */
  flush?: boolean;
  /** The content takes the height that the card is given, and scrolls inside. */
  fill?: boolean;
  className?: string;
  children?: ReactNode;
}) {
  return (
    <section
      className={cx('min-w-0 rounded-2xl border border-line bg-surface shadow-low', fill && 'flex flex-col', className)}
    >
      {(title || actions) && (
        <header className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 px-5 pt-4 pb-3">
          <div className="min-w-0">
            {title && <h2 className="text-[1.15rem] leading-snug font-semibold">{title}</h2>}
            {hint && <p className="mt-0.5 text-[0.9rem] text-ink-faint">{hint}</p>}
          </div>
          {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
        </header>
      )}
      <div
        className={cx(
          !flush && 'px-5 pb-5',
          !flush && !title && !actions && 'pt-5',
          fill && 'flex min-h-0 flex-1 flex-col',
        )}
      >
        {children}
      </div>
    </section>
  );
}

/** What most leave as it is: its name says what it holds, and it opens where it stands. */
export function Fold({ title, hint, children }: { title: string; hint: ReactNode; children: ReactNode }) {
  return (
    <details className="min-w-0 rounded-2xl border border-line bg-surface shadow-low">
      <summary className="cursor-pointer rounded-2xl px-5 py-4">
        <h2 className="inline text-[1.15rem] leading-snug font-semibold">{title}</h2>
        <span className="mt-0.5 block text-[0.9rem] text-ink-faint">{hint}</span>
      </summary>
      <div className="px-5 pb-5">{children}</div>
    </details>
  );
}

/** One figure with its name. */
export function Figure({ label, value, note }: { label: string; value: ReactNode; note?: ReactNode }) {
  return (
    <div className="min-w-0 rounded-2xl border border-line bg-surface px-4 py-4 shadow-low sm:px-5">
      <dt className="eyebrow">{label}</dt>
      <dd className="num mt-1.5 font-display text-[1.6rem] leading-tight font-semibold break-words sm:text-[1.75rem]">
        {value}
      </dd>
      {note && <dd className="mt-1 text-[0.87rem] text-ink-faint">{note}</dd>}
    </div>
  );
}

export function Figures({ children }: { children: ReactNode }) {
  return (
    <dl className="grid grid-cols-2 gap-3 sm:gap-4 lg:grid-cols-[repeat(auto-fit,minmax(10rem,1fr))]">{children}</dl>
  );
}

/** Figures in one row, also on a phone: for a page whose matter is something else. */
export function FigureRow({ items }: { items: [label: string, value: ReactNode, note?: ReactNode][] }) {
  return (
    <dl className="flex flex-wrap gap-x-6 gap-y-2 rounded-2xl border border-line bg-surface px-4 py-2.5 shadow-low sm:gap-x-10 sm:px-5">
      {items.map(([label, value, note]) => (
        <div key={label} className="min-w-0">
          <dt className="eyebrow">{label}</dt>
          <dd className="num font-display text-[1.15rem] leading-tight font-semibold">{value}</dd>
          {note && <dd className="text-[0.8rem] text-ink-faint">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}

/** Names and values, for details. */
export function Facts({ items }: { items: [string, ReactNode][] }) {
  return (
    <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-6 gap-y-2">
      {items.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-ink-faint">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

type Tone = 'neutral' | 'accent' | 'ok' | 'spot' | 'danger' | 'info';
const TONES: Record<Tone, string> = {
  neutral: 'bg-sunken text-ink-soft',
  accent: 'bg-accent-soft text-accent-ink',
  ok: 'bg-ok-soft text-ok',
  spot: 'bg-spot-soft text-spot',
  danger: 'bg-danger-soft text-danger',
  info: 'bg-info-soft text-info',
};

export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={cx(
        'inline-flex items-center gap-1.5 rounded-full px-2.5 py-0.5 text-[0.8rem] font-medium whitespace-nowrap',
        TONES[tone],
      )}
    >
      {children}
    </span>
  );
}

const STATUS_TONE: Record<string, Tone> = {
  running: 'ok',
  active: 'ok',
  approved: 'ok',
  healthy: 'ok',
  ok: 'ok',
  completed: 'ok',
  succeeded: 'ok',
  ran: 'ok',
  accepted: 'ok',
  delivered: 'ok',
  settled: 'ok',
  paid: 'ok',
  pending: 'spot',
  approval: 'spot',
  unknown: 'spot',
  provisioning: 'spot',
  settling: 'spot',
  degraded: 'spot',
  past_due: 'spot',
  missed: 'spot',
  skipped: 'spot',
  open: 'info',
  offered: 'info',
  error: 'danger',
  failed: 'danger',
  unhealthy: 'danger',
  denied: 'danger',
  revoked: 'danger',
  down: 'danger',
};

/** A state word with its colour; the word alone says it, too. `text` says it better where the bare word does not. */
export function Status({ value, text }: { value: string; text?: string }) {
  const isAway = useConnection().state === 'away';
  // What was true when the platform was last heard is not claimed to be so now.
  const tone = isAway ? 'neutral' : (STATUS_TONE[value] ?? 'neutral');
  return (
    <Badge tone={tone}>
      <span
        className={cx('size-1.5 rounded-full', isAway ? 'border border-current' : 'bg-current')}
        aria-hidden="true"
      />
      {text ?? value.replaceAll('_', ' ')}
    </Badge>
  );
}

export function Notice({ tone = 'info', title, children }: { tone?: Tone; title?: ReactNode; children?: ReactNode }) {
  return (
    <div
      role={tone === 'danger' ? 'alert' : 'status'}
      className={cx('rounded-xl px-4 py-3 text-[0.95rem]', TONES[tone])}
    >
      {title && <p className="font-semibold">{title}</p>}
      {children}
    </div>
  );
}
