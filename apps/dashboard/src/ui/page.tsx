import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { brand } from '../texts/common.ts';
import { Icon } from './icons.tsx';

/** The head of every page: its title is also the document's. */
export function Page({
  title,
  lead,
  back,
  actions,
  mark,
  children,
}: {
  title: string;
  lead?: ReactNode;
  back?: { to: string; label: string; search?: Record<string, string> };
  actions?: ReactNode;
  mark?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · ${brand}`;
  }, [title]);
  return (
    <div className="mx-auto flex w-full max-w-6xl min-w-0 flex-col gap-5 px-4 py-6 sm:px-8 sm:py-8">
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
      {children}
    </div>
  );
}
