import { web, SEARCH_LENGTH } from '@troupe/contract';
import type { SessionHead } from '@troupe/contract';
import { useDeferredValue, useState } from 'react';
import { useCall } from '../../../api.ts';
import { ago } from '../../../format.ts';
import { states } from '../../../texts/common.ts';
import { talk as texts } from '../../../texts/talk.ts';
import { Button } from '../../../ui/button.tsx';
import { cx } from '../../../ui/cx.ts';
import { TextField } from '../../../ui/field.tsx';
import { Icon } from '../../../ui/icons.tsx';
import { Failure, Lines } from '../../../ui/states.tsx';
import { isOwn } from './letters.ts';

const MOST = '100';
/** As short as a search may be to mean something. */
const SHORTEST = 2;

interface Props {
  agentId: string;
  current: string | undefined;
  onOpen: (sessionId: string, at?: number) => void;
  onNew: () => void;
}

/** All conversations of an agent, each once however many branches it has, and a search over every word in them. */
export function ConversationList({ agentId, current, onOpen, onNew }: Props) {
  const [search, setSearch] = useState('');
  const [isArchive, setArchive] = useState(false);
  const wanted = useDeferredValue(search.trim());
  return (
    <nav aria-label={texts.list} className="flex min-h-0 flex-col gap-3">
      <Button icon="plus" onClick={onNew}>
        {texts.newOne}
      </Button>
      <TextField
        label={texts.search}
        hideLabel
        type="search"
        placeholder={texts.searchShort}
        maxLength={SEARCH_LENGTH}
        value={search}
        onChange={({ target }) => setSearch(target.value)}
      />
      <div className="min-h-0 flex-1 overflow-y-auto">
        {wanted.length >= SHORTEST ? (
          <Results agentId={agentId} words={wanted} onOpen={onOpen} />
        ) : (
          <Groups agentId={agentId} current={current} archived={isArchive} onOpen={onOpen} />
        )}
      </div>
      <Button kind="quiet" small onClick={() => setArchive(!isArchive)}>
        {isArchive ? texts.hideArchived : texts.showArchived}
      </Button>
    </nav>
  );
}

export const listQuery = (archived: boolean) => ({
  latest: 'true' as const,
  archived: archived ? ('true' as const) : ('false' as const),
  limit: MOST,
});

function Groups({
  agentId,
  current,
  archived,
  onOpen,
}: Pick<Props, 'agentId' | 'current' | 'onOpen'> & { archived: boolean }) {
  const read = useCall(web.conversations.list, { params: { id: agentId }, query: listQuery(archived) });
  if (!read.data)
    return read.error ? <Failure error={read.error} retry={() => void read.refetch()} /> : <Lines rows={5} />;
  const { sessions } = read.data;
  const groups: [string, SessionHead[]][] = [
    [texts.pinned, sessions.filter(({ pinned }) => pinned)],
    [archived ? texts.archived : texts.recent, sessions.filter((one) => !one.pinned && isOwn(one))],
    [texts.elsewhere, sessions.filter((one) => !one.pinned && !isOwn(one))],
  ];
  if (sessions.length === 0) return <p className="px-2 text-[0.9rem] text-ink-faint">{texts.none}</p>;
  return groups
    .filter(([, list]) => list.length > 0)
    .map(([name, list]) => (
      <section key={name} className="mb-3">
        <h2 className="eyebrow px-2 pb-1 font-sans">{name}</h2>
        <ul className="flex flex-col gap-0.5">
          {list.map((session) => (
            <li key={session.id}>
              <Row session={session} isCurrent={session.id === current} onOpen={onOpen} />
            </li>
          ))}
        </ul>
      </section>
    ));
}

function Row({
  session,
  isCurrent,
  onOpen,
}: {
  session: SessionHead;
  isCurrent: boolean;
  onOpen: (id: string) => void;
}) {
  const { id, title, pinned, status, channel, updatedAt } = session;
  return (
    <button
      type="button"
      aria-current={isCurrent || undefined}
      onClick={() => onOpen(id)}
      className={cx(
        'flex w-full min-w-0 flex-col rounded-lg px-2 py-1.5 text-left hover:bg-sunken',
        isCurrent && 'bg-accent-soft',
      )}
    >
      <span className="flex min-w-0 items-center gap-1.5">
        {pinned && <Icon name="pin" size={13} />}
        <span className="min-w-0 flex-1 truncate text-[0.93rem]" dir="auto">
          {title || texts.untitled}
        </span>
      </span>
      <span className="flex gap-2 text-[0.78rem] text-ink-faint">
        {!isOwn(session) && <span>{texts.channels[channel] ?? channel}</span>}
        <span>{ago(updatedAt)}</span>
        {status === 'waiting' && <span className="text-spot">{texts.waits}</span>}
        {status === 'open' && <span className="text-info">{texts.working}</span>}
      </span>
    </button>
  );
}

function Results({ agentId, words, onOpen }: { agentId: string; words: string; onOpen: Props['onOpen'] }) {
  const read = useCall(web.conversations.search, { params: { id: agentId }, query: { q: words } }, { keep: true });
  if (!read.data)
    return read.error ? <Failure error={read.error} retry={() => void read.refetch()} /> : <Lines rows={4} />;
  const { messages } = read.data;
  return (
    <>
      <p role="status" className="px-2 pb-1 text-[0.85rem] text-ink-faint">
        {messages.length === 0 ? texts.nothingFound : states.rows(messages.length, messages.length)}
      </p>
      <ul className="flex flex-col gap-0.5">
        {messages.map(({ sessionId, seq, title, text, role, at }) => (
          <li key={`${sessionId}:${seq}`}>
            <button
              type="button"
              onClick={() => onOpen(sessionId, seq)}
              className="flex w-full min-w-0 flex-col rounded-lg px-2 py-1.5 text-left hover:bg-sunken"
            >
              <span className="truncate text-[0.9rem] font-medium" dir="auto">
                {title || texts.untitled}
              </span>
              <span className="line-clamp-2 text-[0.85rem] break-words text-ink-soft" dir="auto">
                {role === 'user' && `${texts.you}: `}
                {text}
              </span>
              <span className="text-[0.78rem] text-ink-faint">{ago(at)}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
