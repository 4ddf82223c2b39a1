import { web } from '@troupe/contract';
import type { WebAgent } from '@troupe/contract';
import { Dialog } from '@base-ui/react/dialog';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { KeyboardEvent } from 'react';
import { useCall } from '../api.ts';
import type { SessionUser } from '../session.ts';
import { palette as texts, shell } from '../texts/shell.ts';
import { toggleTheme } from '../theme.ts';
import { cx } from '../ui/cx.ts';
import { Icon, Mask } from '../ui/icons.tsx';
import type { IconName } from '../ui/icons.tsx';
import { fileOf } from '../addresses.ts';
import { titleOf } from '../pages/agents/conversations/title.ts';
import { NAV, NAV_BELOW, PARTS } from './nav.ts';
import { byNearness } from './palette-found.ts';
import { findCommands, movedBy } from './palette-search.ts';
import { useSignOut } from './sign-out.ts';
import { useFound } from './use-found.ts';
import type { Found } from './use-found.ts';

interface Command {
  id: string;
  group: string;
  label: string;
  also?: string | undefined;
  icon?: IconName;
  mask?: string;
  run: () => void;
}

interface Props {
  user: SessionUser;
  /** What was typed before it was there. */
  ahead: () => string;
  onClose: () => void;
  onKeys: () => void;
}

/** Everything within reach of the keyboard: pages, agents, actions, and what agents hold: conversations and files. */
export default function Palette({ user, ahead, onClose, onKeys }: Props) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const agents = useCall(web.agents.list, {}).data?.agents;
  const isTyped = text.trim() !== '';
  const commands = useCommands(user, agents, { isTyped, onKeys });
  const { found: known, more } = useMemo(() => findCommands(commands, text), [commands, text]);
  // What has to be asked for comes behind what is known, so that nothing moves below a finger.
  const { commands: held, ...asked } = useHeld(agents, text);
  const found = [...known, ...held];
  const choose = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  const onKey = (event: KeyboardEvent) => {
    const next = movedBy(event.key, at, found.length);
    if (next !== undefined) setAt(next);
    else if (event.key === 'Enter') choose(found[at]);
    else return;
    event.preventDefault();
  };
  const search = (typed: string) => {
    setText(typed);
    setAt(0);
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-[rgb(20_16_10/0.55)]" />
        <Dialog.Popup className="fixed inset-x-3 top-[10dvh] z-50 mx-auto max-w-xl overflow-hidden rounded-2xl border border-line bg-surface shadow-high outline-none">
          <Dialog.Title className="sr-only">{shell.search}</Dialog.Title>
          <Search
            {...{ text, onKey }}
            active={found[at] && at}
            onType={search}
            onEnter={() => search(text + ahead())}
          />
          <ul id="palette-list" role="listbox" aria-label={shell.search} className="max-h-[55dvh] overflow-y-auto p-2">
            {found.map((command, index) => (
              <Option
                key={command.id}
                id={`palette-${index}`}
                command={command}
                isActive={index === at}
                onPoint={() => setAt(index)}
                onChoose={() => choose(command)}
              />
            ))}
          </ul>
          <Told {...asked} count={found.length} more={isTyped ? more : 0} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Below the list: whether it goes on, ends, or misses something. */
function Told({
  isSearching,
  error,
  unread,
  count,
  more,
}: Pick<Found, 'isSearching' | 'error' | 'unread'> & { count: number; more: number }) {
  const left = count === 0 ? texts.none : more > 0 ? texts.more(more) : '';
  const missing = error ? texts.unread(error.message) : unread.length > 0 ? texts.unasked(unread.join(', ')) : '';
  return (
    <>
      <p role="status" className="px-5 text-[0.9rem] text-ink-soft not-empty:py-3">
        {isSearching ? texts.searching : left}
      </p>
      {missing && <p className="px-5 pb-4 text-[0.9rem] text-danger">{missing}</p>}
    </>
  );
}

function Search({
  text,
  active,
  onType,
  onKey,
  onEnter,
}: {
  text: string;
  active: number | undefined;
  onType: (text: string) => void;
  onKey: (event: KeyboardEvent) => void;
  onEnter: () => void;
}) {
  return (
    <div className="flex items-center gap-3 border-b border-line px-4">
      <Icon name="search" className="shrink-0 text-ink-faint" />
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={active === undefined ? undefined : `palette-${active}`}
        aria-label={shell.search}
        placeholder={texts.placeholder}
        className="min-h-13 flex-1 bg-transparent outline-none placeholder:text-ink-faint"
        value={text}
        onChange={({ target }) => onType(target.value)}
        onKeyDown={onKey}
        onFocus={onEnter}
      />
    </div>
  );
}

function Option({
  id,
  command,
  isActive,
  onPoint,
  onChoose,
}: {
  id: string;
  command: Command;
  isActive: boolean;
  onPoint: () => void;
  onChoose: () => void;
}) {
  return (
    <li
      id={id}
      role="option"
      aria-selected={isActive}
      ref={(node) => {
        if (isActive) node?.scrollIntoView({ block: 'nearest' });
      }}
      onPointerMove={onPoint}
      onClick={onChoose}
      className={cx(
        'flex min-h-11 cursor-pointer items-center gap-3 rounded-lg px-3',
        isActive && 'bg-accent-soft text-accent-ink',
      )}
    >
      {command.mask ? <Mask seed={command.mask} size={22} /> : command.icon && <Icon name={command.icon} />}
      <span className="min-w-0 flex-1 truncate" dir="auto">
        {command.label}
      </span>
      <span className="max-w-[45%] truncate text-[0.8rem] opacity-80">
        <bdi>{command.group}</bdi>
      </span>
    </li>
  );
}

type Go = (to: string, search?: Record<string, string>) => () => void;

const administering = (go: Go): [string, IconName, () => void][] => [
  [texts.invite, 'plus', go('/dashboard/admin', { tab: 'invites' })],
  [texts.provider, 'plus', go('/dashboard/admin', { tab: 'providers' })],
];

/** What agents hold that has the words. */
function useHeld(agents: WebAgent[] | undefined, text: string) {
  const navigate = useNavigate();
  const { agents: named, talks, files, isSearching, error, unread } = useFound(agents, text);
  const known = useMemo(() => new Set(agents?.map(({ id }) => id)), [agents]);
  const go = (id: string, search: Record<string, unknown>) => () =>
    void navigate({ to: `/dashboard/agents/${id}`, search: search as never });
  const commands: Command[] = [
    // Of more agents than a list has.
    ...named
      .filter(({ id }) => !known.has(id))
      .map(({ id, name }) => ({ id, group: texts.agents, label: name, mask: id, run: go(id, {}) })),
    ...talks.map(({ agentId, agentName, sessionId, title, seq }) => ({
      id: `talk-${sessionId}`,
      group: texts.ofAgent(agentName, texts.conversation),
      label: titleOf(title),
      icon: 'chat' as const,
      run: go(agentId, { tab: 'chat', c: sessionId, ...(seq !== null && { at: seq }) }),
    })),
    ...files.map(({ agent, path, isFolder }) => ({
      id: `file-${agent.id}-${path}`,
      group: texts.ofAgent(agent.name, isFolder ? texts.folder : texts.file),
      label: path,
      icon: isFolder ? ('folder' as const) : ('file' as const),
      run: go(agent.id, { tab: 'files', ...(isFolder ? { folder: path } : fileOf(path)) }),
    })),
  ];
  return { commands, isSearching, error, unread };
}

/** Agents that are shown before something is typed. */
const MOST_NEAR = 8;

function actionsFor(
  user: SessionUser,
  go: Go,
  { signOut, onKeys }: Record<'signOut' | 'onKeys', () => void>,
): Command[] {
  const actions: [string, IconName, () => void][] = [
    [texts.newAgent, 'plus', go('/dashboard/agents/new')],
    [texts.newTeam, 'plus', go('/dashboard/teams')],
    [texts.newTask, 'plus', go('/dashboard/tasks', { new: '1' })],
    [texts.newKey, 'plus', go('/dashboard/settings', { tab: 'keys' })],
    [texts.newCap, 'plus', go('/dashboard/cost')],
    ...(user.isAdmin ? administering(go) : []),
    [texts.theme, 'moon', toggleTheme],
    [texts.keys, 'key', onKeys],
    [texts.signOut, 'exit', signOut],
  ];
  return actions.map(([label, icon, run]) => ({ id: label, group: texts.actions, label, icon, run }));
}

const pagesFor = (user: SessionUser, go: Go): Command[] => [
  ...[...NAV, ...NAV_BELOW].flatMap(({ icon, items }) =>
    items
      .filter(({ admin }) => !admin || user.isAdmin)
      .map(({ to, label, also }) => ({ id: to, group: texts.pages, label, also, icon, run: go(to) })),
  ),
  ...PARTS.filter(({ admin }) => !admin || user.isAdmin).map(({ place, label, to, tab }) => ({
    id: `${to}-${tab}`,
    group: place.label,
    label,
    icon: place.icon,
    run: go(to, { tab }),
  })),
];

const partsOf = ({ id, name }: WebAgent, go: Go): Command[] =>
  Object.entries(texts.agentParts).map(([place, [label = '', also]]) => ({
    id: `${id}-${place}`,
    group: texts.agents,
    label: texts.ofAgent(name, label),
    also,
    mask: id,
    run: go(`/dashboard/agents/${id}`, placeOf(place)),
  }));

const placeOf = (place: string): Record<string, string> => {
  const [tab = '', part] = place.split('/');
  return { tab, ...(part && { part }) };
};

/** What the browser knows by itself. Before something is typed: what is most likely wanted. */
function useCommands(
  user: SessionUser,
  agents: WebAgent[] | undefined,
  { isTyped, onKeys }: { isTyped: boolean; onKeys: () => void },
): Command[] {
  const navigate = useNavigate();
  const signOut = useSignOut();
  const { pathname } = useLocation();
  return useMemo(() => {
    const go: Go = (to, search) => () => void navigate({ to, search } as never);
    const near = byNearness(agents ?? [], pathname);
    const named = near.map(({ id, name }) => ({
      id,
      group: texts.agents,
      label: name,
      mask: id,
      run: go(`/dashboard/agents/${id}`),
    }));
    const pages = pagesFor(user, go);
    const actions = actionsFor(user, go, { signOut, onKeys });
    if (!isTyped) return [...named.slice(0, MOST_NEAR), ...actions, ...pages];
    return [...pages, ...actions, ...named, ...near.flatMap((agent) => partsOf(agent, go))];
  }, [agents, navigate, signOut, user, pathname, isTyped]);
}
