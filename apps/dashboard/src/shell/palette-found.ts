import type { FileEntry, SessionHead, WebAgent } from '@troupe/contract';
import { isPinned } from '../pages/agents/agents/tags.ts';
import { inside } from '../pages/agents/files/paths.ts';

/** What the search finds inside of agents: conversations and files. */

/** Each is asked for its lists, and there is a limit to how often a person may ask. */
const MOST_AGENTS = 6;
/** Of the agent at hand, beside its root. */
const MOST_FOLDERS = 4;
const MOST_OF_A_KIND = 8;

/** The one that is looked at, then those that are pinned, then those that changed last. */
export function lookedThrough(agents: readonly WebAgent[], pathname: string): WebAgent[] {
  const at = /^\/dashboard\/agents\/([^/]+)/.exec(pathname)?.[1];
  const rank = (agent: WebAgent) => (agent.id === at ? 0 : isPinned(agent) ? 1 : 2);
  return agents.toSorted((a, b) => rank(a) - rank(b) || b.updatedAt.localeCompare(a.updatedAt)).slice(0, MOST_AGENTS);
}

/** Folders of an agent's root that are looked into. */
export const foldersIn = (entries: readonly FileEntry[]): string[] =>
  entries
    .filter(({ kind, name }) => kind === 'folder' && !name.startsWith('.'))
    .slice(0, MOST_FOLDERS)
    .map(({ name }) => name);

export interface Talk {
  agent: Pick<WebAgent, 'id' | 'name'>;
  sessionId: string;
  title: string;
  /** The message that has the words, where the title has not. */
  at?: number;
}

export interface Kept {
  agent: Pick<WebAgent, 'id' | 'name'>;
  path: string;
  isFolder: boolean;
}

const wordsOf = (text: string): string[] => text.toLowerCase().split(/\s+/).filter(Boolean);
const hasAll = (text: string, words: readonly string[]) => words.every((word) => text.toLowerCase().includes(word));

/** By title, and after those by what was said in them; each conversation once. */
export function talksFound(
  lists: readonly { agent: Talk['agent']; sessions: readonly SessionHead[] }[],
  said: readonly Talk[],
  text: string,
): Talk[] {
  const words = wordsOf(text);
  const titled = lists.flatMap(({ agent, sessions }) =>
    sessions
      .filter(({ title = '' }) => hasAll(title, words))
      .map(({ id, title = '' }): Talk => ({ agent, sessionId: id, title })),
  );
  // The first message of a conversation that has the words stands for it, and a title for all of its messages.
  const each = new Map([...said.toReversed(), ...titled].map((one) => [one.sessionId, one]));
  const order = [...new Set([...titled, ...said].map(({ sessionId }) => sessionId))];
  return order.slice(0, MOST_OF_A_KIND).map((id) => each.get(id)!);
}

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
    .filter(({ path }) => hasAll(path, words))
    .slice(0, MOST_OF_A_KIND);
}
