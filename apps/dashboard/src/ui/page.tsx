import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { brand } from '../texts/common.ts';
import { cx } from './cx.ts';
import { Icon } from './icons.tsx';

/** The head of every page: its title is also the document's. */
export function Page({
  title,
  lead,
  back,
  actions,
  corner,
  mark,
  isLow,
  isWide,
  children,
}: {
  title: string;
  lead?: ReactNode;
  back?: { to: string; label: string; search?: Record<string, string> };
  actions?: ReactNode;
  /** One small thing of a low head, which a phone shows in its corner. */
  corner?: ReactNode;
  mark?: ReactNode;
  /** In one row, for a page that needs its height for something else. */
  isLow?: boolean;
  /** As wide as a wide screen has room for: for what stands in columns. */
  isWide?: boolean;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · ${brand}`;
  }, [title]);
  const head = { title, lead, back, actions, corner, mark };
  return (
    <div
      className={cx(
        'mx-auto flex w-full max-w-6xl min-w-0 flex-col px-4 sm:px-8',
        isWide && 'min-[100rem]:max-w-[90rem]',
        isLow ? 'gap-3 py-4' : 'gap-5 py-6 sm:py-8',
      )}
    >
      {isLow ? <LowHead {...head} /> : <Head {...head} />}
      {children}
    </div>
  );
}

type HeadProps = Omit<Parameters<typeof Page>[0], 'children' | 'isLow' | 'isWide'>;

function LowHead({ title, lead, back, actions, corner, mark }: HeadProps) {
  return (
    <header
      className={cx(
        'flex flex-wrap items-center gap-x-4 gap-y-1.5',
        corner !== undefined && 'max-sm:relative max-sm:pe-11',
      )}
    >
      <div className="flex max-w-full min-w-0 items-center gap-2.5">
        {back && (
          <Link
            to={back.to}
            search={back.search as never}
            aria-label={back.label}
            title={back.label}
            className="-ml-1.5 inline-flex size-8 shrink-0 items-center justify-center rounded-lg text-ink-soft hover:bg-sunken hover:text-ink"
          >
            <Icon name="back" size={18} />
          </Link>
        )}
        {mark}
        <h1 dir="auto" className="min-w-0 text-[1.5rem] leading-tight font-semibold break-words">
          {title}
        </h1>
      </div>
      {lead && <div className="min-w-0 text-[0.95rem] text-ink-soft">{lead}</div>}
      {actions && <div className="max-w-full min-w-0 sm:ms-auto">{actions}</div>}
      {corner && <div className="ms-auto max-sm:absolute max-sm:end-0 max-sm:top-0">{corner}</div>}
    </header>
  );
}

function Head({ title, lead, back, actions, mark }: HeadProps) {
  return (
    <header className="flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
      <div className="min-w-0">
        {back && (
          <Link
            to={back.to}
            search={back.search as never}
            className="mb-2 inline-flex items-center gap-1.5 text-[0.9rem] text-ink-soft hover:text-ink"
          >
            <Icon name="back" size={16} />
            {back.label}
          </Link>
        )}
        <div className="flex min-w-0 items-center gap-3">
          {mark}
          <h1 dir="auto" className="min-w-0 text-[1.7rem] leading-tight font-semibold break-words sm:text-[2rem]">
            {title}
          </h1>
        </div>
        {lead && <div className="mt-1.5 max-w-[68ch] text-ink-soft">{lead}</div>}
      </div>
      {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
    </header>
  );
}
