import type { FileEntry, FoundFile, WebAgent } from '@troupe/contract';
import { isPinned } from '../pages/agents/agents/tags.ts';
import { inside } from '../pages/agents/files/paths.ts';

/** What the search finds inside of agents beside what the platform knows: files on their own disks. */

/** Each is asked for its lists, and there is a limit to how often a person may ask. */
const MOST_AGENTS = 6;
/** Of the agent at hand, beside its root. */
const MOST_FOLDERS = 4;
const MOST_FILES = 12;

/** The one that is looked at, then those that are pinned, then those that changed last. */
export function byNearness(agents: readonly WebAgent[], pathname: string): WebAgent[] {
  const at = /^\/dashboard\/agents\/([^/]+)/.exec(pathname)?.[1];
  const rank = (agent: WebAgent) => (agent.id === at ? 0 : isPinned(agent) ? 1 : 2);
  return agents.toSorted((a, b) => rank(a) - rank(b) || b.updatedAt.localeCompare(a.updatedAt));
}

export const lookedThrough = (agents: readonly WebAgent[], pathname: string): WebAgent[] =>
  byNearness(agents, pathname).slice(0, MOST_AGENTS);

/** Folders of an agent's root that are looked into. */
export const foldersIn = (entries: readonly FileEntry[]): string[] =>
  entries
    .filter(({ kind, name }) => kind === 'folder' && !name.startsWith('.'))
    .slice(0, MOST_FOLDERS)
    .map(({ name }) => name);

export interface Kept {
  agent: Pick<WebAgent, 'id' | 'name'>;
  path: string;
  isFolder: boolean;
}

const wordsOf = (text: string): string[] => text.toLowerCase().split(/\s+/).filter(Boolean);
const hasAll = (text: string, words: readonly string[]) => words.every((word) => text.toLowerCase().includes(word));

/** By name or path. */
export function filesFound(
  folders: readonly { agent: Kept['agent']; folder: string; entries: readonly FileEntry[] }[],
  text: string,
): Kept[] {
  const words = wordsOf(text);
  return folders
    .flatMap(({ agent, folder, entries }) =>
      entries
        .filter(({ kind }) => kind === 'file' || kind === 'folder')
        .map(({ name, kind }): Kept => ({ agent, path: inside(folder, name), isFolder: kind === 'folder' })),
    )
    .filter(({ path }) => hasAll(path, words));
}

/** What was found in both ways, each file once. */
export function withFiles(known: readonly FoundFile[], listed: readonly Kept[]): Kept[] {
  const kept = known.map(({ agentId: id, agentName: name, path, isFolder }) => ({
    agent: { id, name },
    path,
    isFolder,
  }));
  const each = new Map([...kept, ...listed].map((one) => [`${one.agent.id} ${one.path}`, one]));
  return [...each.values()].slice(0, MOST_FILES);
}
