import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { brand } from '../texts/common.ts';
import { front } from '../texts/public.ts';
import { shell } from '../texts/shell.ts';
import { toggleTheme, useTheme } from '../theme.ts';
import { IconButton, LinkButton } from '../ui/button.tsx';
import { Logo } from '../ui/icons.tsx';

/** The frame of the pages that anybody may see. */
export function PublicFrame({ title, children }: { title?: string; children: ReactNode }) {
  const theme = useTheme();
  useEffect(() => {
    document.title = title ? `${title} · ${brand}` : brand;
  }, [title]);
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="mx-auto flex w-full max-w-6xl items-center gap-1 px-4 py-4 sm:gap-2 sm:px-8">
        <Link to="/" className="mr-auto flex items-center gap-2.5">
          <Logo />
          <span className="font-display text-[1.4rem] font-semibold">{brand}</span>
        </Link>
        <nav aria-label={brand} className="flex items-center gap-1 sm:gap-2">
          <LinkButton kind="quiet" small to="/pricing" className="max-sm:px-2">
            {front.pricing}
          </LinkButton>
          <a
            href="/docs"
            className="hidden min-h-8 items-center rounded-lg px-2.5 text-[0.87rem] font-medium text-ink-soft hover:bg-sunken hover:text-ink sm:inline-flex"
          >
            {front.docs}
          </a>
          <IconButton icon={theme === 'dark' ? 'sun' : 'moon'} label={shell.theme} onClick={toggleTheme} />
          <LinkButton small to="/login">
            {front.signIn}
          </LinkButton>
        </nav>
      </header>
      <main className="flex flex-1 flex-col">{children}</main>
      <footer className="mx-auto flex w-full max-w-6xl flex-wrap items-center gap-x-5 gap-y-2 px-4 py-6 text-[0.9rem] text-ink-faint sm:px-8">
        <span className="mr-auto max-sm:w-full">{front.footer}</span>
        <Link to="/pricing" className="hover:text-ink">
          {front.pricing}
        </Link>
        <a href="/docs" className="hover:text-ink">
          {front.docs}
        </a>
        <Link to="/login" className="hover:text-ink">
          {front.signIn}
        </Link>
      </footer>
    </div>
  );
}

/** One narrow card in the middle: sign-in and its relatives. */
export function NarrowPage({ title, lead, children }: { title: string; lead?: ReactNode; children: ReactNode }) {
  return (
    <PublicFrame title={title}>
      <div className="mx-auto flex w-full max-w-md flex-1 flex-col gap-5 px-4 py-8 sm:py-14">
        <div>
          <h1 className="text-[1.9rem] leading-tight font-semibold">{title}</h1>
          {lead && <div className="mt-2 text-ink-soft">{lead}</div>}
        </div>
        <div className="flex flex-col gap-5 rounded-2xl border border-line bg-surface p-5 shadow-low sm:p-7">
          {children}
        </div>
      </div>
    </PublicFrame>
  );
}
