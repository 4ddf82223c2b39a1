import { SEARCH_LENGTH, web } from '@troupe/contract';
import type { FoundConversation, WebAgent } from '@troupe/contract';
import { useQueries, useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { useMemo } from 'react';
import { callQuery, statusOf } from '../api.ts';
import { useSettled } from '../ui/use-settled.ts';
import { filesFound, foldersIn, lookedThrough, withFiles } from './palette-found.ts';
import type { Kept } from './palette-found.ts';

/** As short as a search may be to mean something. */
const SHORTEST = 2;
const LASTING_MS = 60_000;
const ROOT = '.';

/** An agent that is off or has no files has nothing to find; anything else is said. */
const isTold = (error: Error | null): boolean => error !== null && ![404, 409, 502].includes(statusOf(error) ?? 0);

const once = { staleTime: LASTING_MS, retry: false } as const;

/** Files on the disk of whoever runs the agent are not in the platform's search: a few agents are asked themselves. */
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
  agents: { id: string; name: string }[];
  talks: FoundConversation[];
  files: Kept[];
  isSearching: boolean;
  /** Something could not be looked through. */
  error: Error | null;
  /** Agents that could not be asked. */
  unread: string[];
}

/** What has the words that are typed: of all agents as the platform finds it, and files of a few as they list them. */
export function useFound(all: readonly WebAgent[] | undefined, text: string): Found {
  const { pathname } = useLocation();
  const typed = text.trim().slice(0, SEARCH_LENGTH);
  const wanted = useSettled(typed);
  const isWanted = wanted.length >= SHORTEST;
  const agents = useMemo(() => (isWanted ? lookedThrough(all ?? [], pathname) : []), [all, pathname, isWanted]);
  const search = useQuery({ ...callQuery(web.search.get, { query: { q: wanted } }), ...once, enabled: isWanted });
  const { folders, reads } = useFolders(agents);
  const every = isWanted ? [search, ...reads] : [];
  const found = isWanted ? search.data : undefined;
  return {
    agents: found?.agents ?? [],
    talks: found?.conversations ?? [],
    files: isWanted ? withFiles(found?.files ?? [], filesFound(folders, wanted)) : [],
    isSearching: every.some(({ isLoading }) => isLoading) || (typed.length >= SHORTEST && typed !== wanted),
    error: every.find(({ error }) => isTold(error))?.error ?? null,
    unread: found?.unread ?? [],
  };
}
