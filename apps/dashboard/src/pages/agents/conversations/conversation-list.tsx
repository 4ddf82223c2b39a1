import { web, SEARCH_LENGTH } from '@troupe/contract';
import type { SessionHead } from '@troupe/contract';
import { useQueries } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import type { RefObject } from 'react';
import { callQuery, useCall } from '../../../api.ts';
import { ago } from '../../../format.ts';
import { states } from '../../../texts/common.ts';
import { talk as texts } from '../../../texts/talk.ts';
import { Button } from '../../../ui/button.tsx';
import { cx } from '../../../ui/cx.ts';
import { TextField } from '../../../ui/field.tsx';
import { Icon } from '../../../ui/icons.tsx';
import { Failure, Lines } from '../../../ui/states.tsx';
import { useInSight } from '../../../ui/use-in-sight.ts';
import { useSettled } from '../../../ui/use-settled.ts';
import { byAge } from './by-age.ts';
import { useStateOnScreen } from './conversation.ts';
import { isOwn } from './letters.ts';
import { listQuery, PAGE } from './list-query.ts';
import { titleOf } from './title.ts';

/** As short as a search may be to mean something. */
const SHORTEST = 2;
const ROW_HEIGHT = 52;
/** Older pages, which nothing that happens brings up to date but a change by hand: each would be asked for again. */
export const OLDER = { path: 'older conversations', method: 'GET' } as const;

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
  const wanted = useSettled(search.trim());
  const scroller = useRef<HTMLDivElement>(null);
  return (
    <nav aria-label={texts.list} className="flex min-h-0 flex-1 flex-col gap-3">
      <Button icon="plus" data-new-talk onClick={onNew}>
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
      <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto">
        {wanted.length >= SHORTEST ? (
          <Results agentId={agentId} words={wanted} onOpen={onOpen} />
        ) : (
          <Groups agentId={agentId} current={current} archived={isArchive} scroller={scroller} onOpen={onOpen} />
        )}
      </div>
      <Button kind="quiet" small onClick={() => setArchive(!isArchive)}>
        {isArchive ? texts.hideArchived : texts.showArchived}
      </Button>
    </nav>
  );
}

interface Scrolled {
  current: string | undefined;
  scroller: RefObject<HTMLElement | null>;
  onOpen: Props['onOpen'];
}

function Groups({ agentId, archived, ...rest }: Scrolled & { agentId: string; archived: boolean }) {
  const { sessions: read, error, isLoading, hasOlder, older, refetch } = usePages(agentId, archived);
  const status = useStateOnScreen(agentId, rest.current);
  const sessions = status ? read?.map((one) => (one.id === rest.current ? { ...one, status } : one)) : read;
  if (!sessions) return error ? <Failure error={error} retry={refetch} /> : <Lines rows={5} />;
  const own = sessions.filter((one) => !one.pinned && isOwn(one));
  const groups: [string, SessionHead[]][] = [
    [texts.pinned, sessions.filter(({ pinned }) => pinned)],
    ...(archived
      ? [[texts.archived, own] as [string, SessionHead[]]]
      : byAge(own, Date.now()).map(([age, list]): [string, SessionHead[]] => [texts.ages[age], list])),
    [texts.elsewhere, sessions.filter((one) => !one.pinned && !isOwn(one))],
  ];
  if (sessions.length === 0) return <p className="px-2 text-[0.9rem] text-ink-faint">{texts.none}</p>;
  return (
    <>
      {groups
        .filter(([, list]) => list.length > 0)
        .map(([name, list]) => (
          <section key={name} className="mb-3">
            <h2 className="eyebrow px-2 pb-1 font-sans">{name}</h2>
            <Sessions list={list} {...rest} />
          </section>
        ))}
      {error && <Failure error={error} retry={refetch} />}
      {hasOlder && (
        <Button small kind="quiet" busy={isLoading} onClick={older}>
          {texts.older}
        </Button>
      )}
    </>
  );
}

/** However many there are, those in sight are in the document. */
function Sessions({ list, current, scroller, onOpen }: Scrolled & { list: readonly SessionHead[] }) {
  const rows = useRef<HTMLUListElement>(null);
  const keys = useMemo(() => list.map(({ id }) => id), [list]);
  const { pieces, isMany, measure } = useInSight({ scroller, list: rows, keys, height: ROW_HEIGHT });
  return (
    <ul ref={rows} className="flex flex-col">
      {pieces.map((piece) => {
        if ('room' in piece)
          return <li key={`room-${piece.before}`} aria-hidden="true" style={{ height: piece.room }} />;
        const session = list[piece.row]!;
        return (
          <li
            key={session.id}
            ref={isMany ? measure : undefined}
            data-row={session.id}
            aria-setsize={list.length}
            aria-posinset={piece.row + 1}
            className="pb-0.5"
          >
            <Row session={session} isCurrent={session.id === current} onOpen={onOpen} />
          </li>
        );
      })}
    </ul>
  );
}

/** The newest, and as many older ones as were asked for. */
function usePages(agentId: string, archived: boolean) {
  const [pages, setPages] = useState(1);
  const reads = useQueries({
    queries: Array.from({ length: pages }, (_, page) => {
      const input = { params: { id: agentId }, query: { ...listQuery(archived), offset: String(page * PAGE) } };
      return page === 0
        ? callQuery(web.conversations.list, { ...input, query: listQuery(archived) })
        : { ...callQuery(web.conversations.list, input), queryKey: [OLDER.path, OLDER.method, input] };
    }),
  });
  const all = reads.flatMap(({ data }) => data?.sessions ?? []);
  return {
    // What stands on two pages is newer on the first.
    sessions: reads[0]?.data && [...new Map(all.toReversed().map((one) => [one.id, one])).values()].toReversed(),
    error: reads.find(({ error }) => error)?.error ?? null,
    isLoading: reads.some(({ isLoading }) => isLoading),
    hasOlder: reads.at(-1)?.data === undefined || reads.at(-1)?.data?.sessions.length === PAGE,
    older: () => setPages(pages + 1),
    refetch: () => void Promise.all(reads.map(({ refetch }) => refetch())),
  };
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
          {titleOf(title)}
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
                {titleOf(title)}
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
