import { readSession } from '../session/session.ts';
import type { SessionEvent } from '../session/events.ts';
import { MEMORY_STORES } from '../tools/memory-stores.ts';
import type { Tool } from '../tools/tool.ts';
import type { RunDeps, RunLog } from './run.ts';

/** What there is for somebody whom nobody knows. */

/** They change nothing and reach nothing but what the owner gave to be told. */
const FOR_STRANGERS: ReadonlySet<string> = new Set(['knowledge', 'skills', 'think']);

export const isForStranger = (events: readonly SessionEvent[]): boolean =>
  readSession(events).run?.wishes?.abilities === 'answers';

/** The memory stores that this run may use. */
export const storesIn = (events: readonly SessionEvent[]) => readSession(events).run?.wishes?.stores;

/** The tools of this run. What is left out does not exist for it: neither offered, nor run when a model calls it all the same. */
export async function toolsIn(
  deps: RunDeps,
  { run, signal }: { run: RunLog; signal: AbortSignal },
): Promise<readonly Tool[]> {
  const all = await deps.tools(run.definition, signal);
  if (isForStranger(run.events())) return all.filter(({ toolset }) => FOR_STRANGERS.has(toolset));
  return storesIn(run.events()) ? all : all.filter(({ toolset }) => toolset !== MEMORY_STORES);
}
