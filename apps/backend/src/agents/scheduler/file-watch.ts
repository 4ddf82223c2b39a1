import type { Database } from '@troupe/db';
import type { Log } from '@troupe/kernel';
import * as store from './file-watch-store.ts';

/** A file that a pattern matches; `mark` stands for its content where it may have changed since. */
export interface FoundFile {
  path: string;
  bytes: number;
  changedAt: number;
  mark?: string | undefined;
  /** It was changed a moment ago: it may not be whole. */
  fresh?: boolean | undefined;
}

export interface FileWatchDeps {
  db: Database;
  log: Log;
  /** Files of an agent's workspace by pattern; throws with the reason. */
  find: (
    agent: { id: string; userId: string },
    wanted: { pattern: string; since: number },
    signal: AbortSignal,
  ) => Promise<FoundFile[]>;
  everyMs?: number;
}

const EVERY_MS = 30_000;
const LOOK_MS = 15_000;
/** Looks at once; of one user. */
const PLACES = 20;
const PER_USER = 4;
const MOST_LISTED = 100;
/** A file may be seen, and its run begin, a moment before or after it changed by the agent's clock. */
const SLACK_MS = 2000;

const lineOf = ({ path, bytes }: FoundFile): string => `${path} (${bytes} bytes)`;

function inWords(files: readonly FoundFile[]): string {
  const more = files.length - MOST_LISTED;
  return [...files.slice(0, MOST_LISTED).map(lineOf), ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}

/** What is there now by path, and what of it has arrived. */
function compare(files: readonly FoundFile[], trigger: store.FileTrigger) {
  const { seen, created_at } = trigger;
  // Not an object: a file may have any name, also one that objects have a meaning for.
  const now = new Map<string, string>();
  const arrived: FoundFile[] = [];
  for (const file of files) {
    const before = seen !== null && Object.hasOwn(seen, file.path) ? seen[file.path] : undefined;
    if (file.fresh) {
      if (before !== undefined) now.set(file.path, before);
      continue;
    }
    const mark = file.mark ?? before ?? '';
    now.set(file.path, mark);
    const isNew = seen === null ? file.changedAt > created_at.getTime() - SLACK_MS : before !== mark;
    if (isNew) arrived.push(file);
  }
  return { now: Object.fromEntries(now), arrived };
}

/** Looks for files that arrived, every so often, and starts the tasks that wait for them: one run for all of a look. */
export function createFileWatch({ db, log, find, everyMs = EVERY_MS }: FileWatchDeps) {
  async function look(trigger: store.FileTrigger): Promise<void> {
    const { id, agent_id, user_id, pattern, seen_at } = trigger;
    const since = seen_at === null ? 0 : seen_at.getTime() - 2 * LOOK_MS;
    const found = await find({ id: agent_id, userId: user_id }, { pattern, since }, AbortSignal.timeout(LOOK_MS)).catch(
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    );
    if (found instanceof Error) {
      log.info({ err: found, triggerId: id }, 'files could not be looked for');
      return void (await store.noteProblem(db.system, trigger, found.message));
    }
    const { now, arrived } = compare(found, trigger);
    await db.asSystem(async (tx) => {
      if (!(await store.noteSeen(tx, trigger, now))) return;
      if (arrived.length === 0) return;
      const changed = arrived.map(({ changedAt }) => changedAt);
      const during = { from: Math.min(...changed) - SLACK_MS, to: Math.max(...changed) + SLACK_MS };
      await store.takeIn(tx, trigger, inWords(arrived), await store.depthDuring(tx, agent_id, during));
    });
  }

  return async (): Promise<void> => {
    for (;;) {
      const due = await db.asSystem((tx) => store.takeDue(tx, { places: PLACES, perUser: PER_USER, everyMs }));
      await Promise.all(due.map(look));
      if (due.length < PLACES) return;
    }
  };
}
