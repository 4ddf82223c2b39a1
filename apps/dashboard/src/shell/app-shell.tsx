import { web } from '@troupe/contract';
import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { Suspense, lazy, useEffect, useState, useSyncExternalStore } from 'react';
import type { ReactNode } from 'react';
import { useCall } from '../api.ts';
import { hourOf } from '../format.ts';
import { LiveProvider, useConnection, useLive } from '../live/context.tsx';
import { isTooFast } from '../retrying.ts';
import { useSession } from '../session.ts';
import type { SessionUser } from '../session.ts';
import { brand } from '../texts/common.ts';
import { nav, shell } from '../texts/shell.ts';
import { toggleTheme, useTheme } from '../theme.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { cx } from '../ui/cx.ts';
import { Drawer } from '../ui/dialog.tsx';
import { Icon, Logo, Mask } from '../ui/icons.tsx';
import { Lines } from '../ui/states.tsx';
import { Toasts } from '../ui/toast.tsx';
import { isPinned } from '../pages/agents/agents/tags.ts';
import { useWaiting } from '../pages/agents/inbox/use-waiting.ts';
import { ConfirmIdentity } from '../pages/identity/second-step/confirm-identity.tsx';
import { BOTTOM, NAV, NAV_BELOW, placeOf, type NavPlace } from './nav.ts';
import { onOpenSearch } from './open-search.ts';
import { useSignOut } from './sign-out.ts';
import { useShellKeys } from './use-shell-keys.ts';
import { useTypedAhead } from './use-typed-ahead.ts';

const Palette = lazy(() => import('./palette.tsx'));
const KeysDialog = lazy(() => import('./keys-dialog.tsx'));

/** Whether the search is open: by Ctrl K, or by whoever asks for it. */
function usePalette() {
  const state = useState(false);
  const [, setPalette] = state;
  useEffect(() => onOpenSearch(() => setPalette(true)), [setPalette]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        setPalette((open) => !open);
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [setPalette]);
  return state;
}

/** What surrounds every signed-in page: navigation, search, theme, news. */
export function AppShell({ children = <Outlet /> }: { children?: ReactNode }) {
  const { user } = useSession();
  const [menu, setMenu] = useState(false);
  const [palette, setPalette] = usePalette();
  const [keys, setKeys] = useState(false);
  const ahead = useTypedAhead(palette);
  const { pathname } = useLocation();
  useShellKeys({ onSearch: () => setPalette(true), onHelp: () => setKeys(true) });

  useEffect(() => setMenu(false), [pathname]);

  if (!user) return null;
  return (
    <LiveProvider>
      <Toasts>
        <a
          href="#content"
          className="sr-only z-60 rounded-lg bg-accent px-4 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-3 focus:left-3"
        >
          {shell.skip}
        </a>
        <div className="md:grid md:grid-cols-[15.5rem_minmax(0,1fr)]">
          <aside className="sticky top-0 hidden h-dvh border-r border-line bg-sunken/60 md:block">
            <Sidebar user={user} onSearch={() => setPalette(true)} />
          </aside>
          <div className="flex min-h-dvh min-w-0 flex-col">
            <TopBar onMenu={() => setMenu(true)} onSearch={() => setPalette(true)} />
            <Away />
            <TooFast />
            <main id="content" tabIndex={-1} className="min-w-0 flex-1 pb-16 outline-none md:pb-8">
              <PlaceRow />
              <Suspense fallback={<PageLoading />}>{children}</Suspense>
            </main>
          </div>
        </div>
        <BottomBar onMenu={() => setMenu(true)} />
        <Drawer open={menu} onClose={() => setMenu(false)} title={shell.openMenu}>
          <Sidebar user={user} onSearch={() => setPalette(true)} />
        </Drawer>
        <ConfirmIdentity />
        <Suspense fallback={null}>
          {palette && (
            <Palette user={user} ahead={ahead} onClose={() => setPalette(false)} onKeys={() => setKeys(true)} />
          )}
          {keys && <KeysDialog onClose={() => setKeys(false)} />}
        </Suspense>
      </Toasts>
    </LiveProvider>
  );
}

/** Said once, above every page, as long as it lasts. */
function Away() {
  const live = useLive();
  const connection = useConnection();
  if (connection.state !== 'away') return null;
  return (
    <div
      role="status"
      className="sticky top-0 z-20 flex flex-wrap items-center justify-between gap-x-4 gap-y-1 bg-spot-soft px-4 py-2 text-[0.95rem] text-spot sm:px-8"
    >
      <span>{shell.away(hourOf(connection.since))}</span>
      <Button small onClick={live.retry}>
        {shell.retryNow}
      </Button>
    </div>
  );
}

/** A read waits for its turn: said once, and it goes on by itself. */
function TooFast() {
  const cache = useQueryClient().getQueryCache();
  const isWaiting = useSyncExternalStore(
    (tell) => cache.subscribe(tell),
    () => cache.getAll().some(({ state }) => state.fetchStatus !== 'idle' && isTooFast(state.fetchFailureReason)),
  );
  if (!isWaiting) return null;
  return (
    <p role="status" className="sticky top-0 z-20 bg-spot-soft px-4 py-2 text-[0.95rem] text-spot sm:px-8">
      {shell.tooFast}
    </p>
  );
}

export function PageLoading() {
  return (
    <div className="mx-auto max-w-6xl px-4 py-8 sm:px-8">
      <div className="skeleton mb-6 h-9 w-64 max-w-full" />
      <Lines rows={6} />
    </div>
  );
}

function Sidebar({ user, onSearch }: { user: SessionUser; onSearch: () => void }) {
  const theme = useTheme();
  const signOut = useSignOut();
  return (
    <div className="flex h-full flex-col gap-3 px-3 py-4">
      <Link to="/dashboard" className="flex items-center gap-2.5 px-2">
        <Logo />
        <span className="font-display text-[1.3rem] font-semibold">{brand}</span>
      </Link>
      <button
        type="button"
        onClick={onSearch}
        className="flex min-h-10 items-center gap-2 rounded-lg border border-line bg-surface px-3 text-[0.9rem] text-ink-faint hover:border-line-strong"
      >
        <Icon name="search" size={16} />
        <span className="flex-1 text-left">{shell.searchShort}</span>
        <kbd className="hidden font-mono text-[0.75rem] lg:inline">{shell.searchHint}</kbd>
      </button>
      <nav aria-label={nav.main} className="-mx-3 flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto px-3">
        <Places places={NAV} user={user} />
        <Pinned />
      </nav>
      <nav aria-label={nav.below} className="border-t border-line pt-3">
        <Places places={NAV_BELOW} user={user} />
        <a
          href="/docs"
          className="flex min-h-9 items-center gap-3 rounded-lg px-3 text-ink-soft hover:bg-surface hover:text-ink"
        >
          <Icon name="book" />
          {nav.docs}
        </a>
        <div className="mt-1 flex items-center gap-1 pl-3">
          <Link to="/dashboard/settings" className="min-w-0 flex-1">
            <span className="block truncate text-[0.9rem] font-medium" dir="auto">
              {user.name}
            </span>
            <span className="block truncate text-[0.8rem] text-ink-faint">{user.email}</span>
          </Link>
          <IconButton icon={theme === 'dark' ? 'sun' : 'moon'} label={shell.theme} onClick={toggleTheme} />
          <IconButton icon="exit" label={shell.signOut} onClick={signOut} />
        </div>
      </nav>
    </div>
  );
}

function Places({ places, user }: { places: NavPlace[]; user: SessionUser }) {
  const { place: current } = placeOf(useLocation().pathname);
  return (
    <ul>
      {places
        .filter(({ items: [{ admin }] }) => !admin || user.isAdmin)
        .map((place) => (
          <li key={place.label}>
            <NavLink place={place} isCurrent={place === current} />
          </li>
        ))}
    </ul>
  );
}

/** More than these push the rest out of sight. */
const MOST_PINNED = 12;

/** The agents that somebody wants at hand. */
function Pinned() {
  const pinned = useCall(web.agents.list, {}).data?.agents.filter(isPinned).slice(0, MOST_PINNED) ?? [];
  if (pinned.length === 0) return null;
  return (
    <section aria-label={nav.pinned}>
      <h2 className="eyebrow px-3 pb-1 font-sans">{nav.pinned}</h2>
      <ul>
        {pinned.map(({ id, name }) => (
          <li key={id}>
            <Link
              to="/dashboard/agents/$id"
              params={{ id } as never}
              className="flex min-h-9 min-w-0 items-center gap-3 rounded-lg px-3 text-ink-soft hover:bg-surface hover:text-ink"
            >
              <Mask seed={id} size={20} />
              <bdi className="min-w-0 truncate">{name}</bdi>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The other pages of a place, above each of them. */
function PlaceRow() {
  const { place, item } = placeOf(useLocation().pathname);
  if (!place || !item || place.items.length < 2) return null;
  return (
    <nav aria-label={nav.pagesOf(place.label)} className="mx-auto w-full max-w-6xl px-4 pt-4 sm:px-8">
      <ul className="flex gap-1 overflow-x-auto [scrollbar-width:none]">
        {place.items.map(({ to, label }) => (
          <li key={to}>
            <Link
              to={to}
              activeOptions={{ exact: true, includeSearch: false }}
              className="block rounded-full border border-transparent px-3 py-1 text-[0.92rem] whitespace-nowrap text-ink-soft hover:text-ink aria-[current=page]:border-line aria-[current=page]:bg-surface aria-[current=page]:font-semibold aria-[current=page]:text-ink"
            >
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function NavLink({ place: { label, icon, items }, isCurrent }: { place: NavPlace; isCurrent: boolean }) {
  const [{ to }] = items;
  return (
    <Link
      to={to}
      activeOptions={{ exact: true }}
      aria-current={isCurrent ? 'page' : undefined}
      className="flex min-h-9 items-center gap-3 rounded-lg px-3 text-ink-soft hover:bg-surface hover:text-ink aria-[current=page]:bg-surface aria-[current=page]:font-semibold aria-[current=page]:text-ink aria-[current=page]:shadow-low"
    >
      <Icon name={icon} />
      {label}
      {to === '/dashboard/inbox' && <InboxCount />}
    </Link>
  );
}

function InboxCount() {
  const { items } = useWaiting();
  if (items.length === 0) return null;
  return (
    <span className="num ml-auto rounded-full bg-spot-soft px-2 text-[0.8rem] font-semibold text-spot">
      {items.length}
    </span>
  );
}

function TopBar({ onMenu, onSearch }: { onMenu: () => void; onSearch: () => void }) {
  return (
    <header className="sticky top-0 z-20 flex items-center gap-1 border-b border-line bg-paper/95 px-2 py-1.5 md:hidden">
      <IconButton icon="menu" label={shell.openMenu} onClick={onMenu} />
      <Link to="/dashboard" className="flex flex-1 items-center gap-2">
        <Logo size={24} />
        <span className="font-display text-[1.15rem] font-semibold">{brand}</span>
      </Link>
      <IconButton icon="search" label={shell.search} onClick={onSearch} />
    </header>
  );
}

function BottomBar({ onMenu }: { onMenu: () => void }) {
  const { place: current } = placeOf(useLocation().pathname);
  const cell = 'flex min-h-14 flex-1 flex-col items-center justify-center gap-0.5 text-[0.72rem] text-ink-soft';
  return (
    <nav
      aria-label={nav.more}
      className="fixed inset-x-0 bottom-0 z-20 flex border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] md:hidden"
    >
      {NAV.filter(({ label }) => BOTTOM.includes(label)).map((place) => (
        <Link
          key={place.label}
          to={place.items[0].to}
          activeOptions={{ exact: true }}
          aria-current={place === current ? 'page' : undefined}
          className={cx(cell, 'aria-[current=page]:font-semibold aria-[current=page]:text-accent-ink')}
        >
          <Icon name={place.icon} />
          <span>
            {place.label} {place.label === nav.inbox && <InboxCount />}
          </span>
        </Link>
      ))}
      <button type="button" onClick={onMenu} className={cell}>
        <Icon name="menu" />
        {nav.more}
      </button>
    </nav>
  );
}
