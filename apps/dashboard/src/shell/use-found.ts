import { SEARCH_LENGTH, web } from '@troupe/contract';
import type { WebAgent } from '@troupe/contract';
import { useQueries } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { useMemo } from 'react';
import { callQuery, statusOf } from '../api.ts';
import { listQuery } from '../pages/agents/conversations/list-query.ts';
import { useSettled } from '../ui/use-settled.ts';
import { filesFound, foldersIn, lookedThrough, talksFound } from './palette-found.ts';
import type { Kept, Talk } from './palette-found.ts';

/** As short as a search may be to mean something. */
const SHORTEST = 2;
/** Their messages are searched at each word that is typed; lists are asked for once. */
const MOST_SEARCHED = 2;
const LASTING_MS = 60_000;
const ROOT = '.';

/** An agent that is off or has no files has nothing to find; anything else is said. */
const isTold = (error: Error | null): boolean => error !== null && ![404, 409, 502].includes(statusOf(error) ?? 0);

const once = { staleTime: LASTING_MS, retry: false } as const;

function useFolders(agents: readonly WebAgent[]) {
  const list = (id: string, path: string) => ({
    ...callQuery(web.files.list, { params: { id }, query: { path } }),
    ...once,
  });
  const roots = useQueries({ queries: agents.map(({ id }) => list(id, ROOT)) });
  const first = agents[0];
  const names = foldersIn(roots[0]?.data?.entries ?? []);
  const below = useQueries({ queries: first ? names.map((name) => list(first.id, name)) : [] });
  const folders = [
    ...roots.map(({ data }, at) => ({ agent: agents[at]!, folder: ROOT, entries: data?.entries ?? [] })),
    ...below.map(({ data }, at) => ({ agent: first!, folder: names[at]!, entries: data?.entries ?? [] })),
  ];
  return { folders, reads: [...roots, ...below] };
}

export interface Found {
  talks: Talk[];
  files: Kept[];
  isSearching: boolean;
  /** Something could not be looked through. */
  error: Error | null;
}

/** Conversations and files that have what is typed, of the agent that is looked at and a few others. */
export function useFound(all: readonly WebAgent[] | undefined, text: string): Found {
  const { pathname } = useLocation();
  const typed = text.trim().slice(0, SEARCH_LENGTH);
  const wanted = useSettled(typed);
  const isWanted = wanted.length >= SHORTEST;
  const agents = useMemo(() => (isWanted ? lookedThrough(all ?? [], pathname) : []), [all, pathname, isWanted]);
  const lists = useQueries({
    queries: agents.map(({ id }) => ({
      ...callQuery(web.conversations.list, { params: { id }, query: listQuery(false) }),
      ...once,
    })),
  });
  const searched = agents.slice(0, MOST_SEARCHED);
  const searches = useQueries({
    queries: searched.map(({ id }) => ({
      ...callQuery(web.conversations.search, { params: { id }, query: { q: wanted } }),
      ...once,
    })),
  });
  const { folders, reads } = useFolders(agents);
  const said = searches.flatMap(({ data }, at) =>
    (data?.messages ?? []).map(({ sessionId, seq, title }): Talk => ({
      agent: searched[at]!,
      sessionId,
      title,
      at: seq,
    })),
  );
  const sessions = lists.map(({ data }, at) => ({ agent: agents[at]!, sessions: data?.sessions ?? [] }));
  const every = [...lists, ...searches, ...reads];
  return {
    talks: isWanted ? talksFound(sessions, said, wanted) : [],
    files: isWanted ? filesFound(folders, wanted) : [],
    isSearching:
      (isWanted && every.some(({ isLoading }) => isLoading)) || (typed.length >= SHORTEST && typed !== wanted),
    error: every.find(({ error }) => isTold(error))?.error ?? null,
  };
}
