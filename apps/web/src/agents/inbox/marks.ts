import type { InboxMark, TypesOf, web } from '@troupe/contract';
import type { Database } from '@troupe/db';
import { AppError, iso, isoOrNull, type Clock } from '@troupe/kernel';
import type { TasksService } from '../tasks/service.ts';
import * as store from './store.ts';

export interface MarksDeps {
  db: Database;
  clock: Clock;
  tasks: Pick<TasksService, 'update'>;
}

export type MarksService = ReturnType<typeof createMarks>;

const LONGEST_MS = 366 * 86_400_000;
const NOTICE = /^notice-(\d{1,18})$/;

const shown = ({ item, state, until, words, task_id, marked_at }: store.MarkRow): InboxMark => ({
  item,
  state,
  until: isoOrNull(until),
  words,
  taskId: task_id,
  markedAt: iso(marked_at),
});

/** The notice that an item stands for; undefined: it stands for something else. */
function noticeIn(item: string): bigint | undefined {
  const id = NOTICE.exec(item)?.[1];
  return id === undefined ? undefined : BigInt(id);
}

function untilOf(state: InboxMark['state'], until: string | undefined, now: Date): Date | null {
  const at = until === undefined ? null : new Date(until);
  const isWithin = at !== null && at > now && at.getTime() <= now.getTime() + LONGEST_MS;
  if (state === 'later' ? !isWithin : at !== null)
    throw new AppError(400, 'until must be a time within a year from now, and only of what is put off');
  return at;
}

/** Two who mark the same things at once wait for each other, and not both for ever. */
const inOrder = (a: { item: string }, b: { item: string }): number => (a.item < b.item ? -1 : 1);

/** What somebody put off, is done with or decided: the same in every tab and on every device. */
export function createMarks({ db, clock, tasks }: MarksDeps) {
  type Put = TypesOf<typeof web.inbox.put>['body'];

  /** All at one time: so it is known that they were marked together. */
  async function putAll(
    userId: string,
    items: readonly { item: string; words: string }[],
    { state, until, taskId }: Omit<Put, 'words'>,
  ): Promise<{ marks: InboxMark[] }> {
    const now = clock();
    const task_id = state === 'decided' ? (taskId ?? null) : null;
    const same = { state, until: untilOf(state, until, now), task_id, marked_at: now };
    const rows = items.map(({ item, words }) => ({ item, words, ...same }));
    await db.asUser(userId, async (tx) => {
      // Undoing switches it on again: one of somebody else's, or none, is nothing that could be undone.
      if (task_id !== null && !(await store.hasTask(tx, task_id))) throw new AppError(404, 'Task not found');
      for (const row of rows.toSorted(inOrder)) {
        await store.putMark(tx, userId, row);
        const notice = noticeIn(row.item);
        if (notice !== undefined && state !== 'later') await store.readNotice(tx, notice, now);
      }
    });
    return { marks: rows.map(shown) };
  }

  return {
    list: async (userId: string): Promise<InboxMark[]> => (await store.readMarks(db.user(userId))).map(shown),

    putAll,
    async put(userId: string, item: string, { words, ...mark }: Put): Promise<InboxMark> {
      const { marks } = await putAll(userId, [{ item, words }], mark);
      return marks[0]!;
    },

    async remove(userId: string, item: string) {
      const taskId = await db.asUser(userId, async (tx) => {
        const mark = await store.lockMark(tx, item);
        if (!mark) throw new AppError(404, 'Nothing to undo');
        if (mark.state === 'decided' && mark.task_id === null)
          throw new AppError(409, 'What was decided has happened: it cannot be undone');
        await store.removeMark(tx, item);
        const notice = noticeIn(item);
        if (notice !== undefined) await store.unreadNotice(tx, notice);
        return mark.task_id;
      });
      if (taskId !== null) await switchOn(userId, taskId);
      return { success: true as const };
    },
  };

  /** A task that is gone meanwhile is nothing to switch on. */
  async function switchOn(userId: string, taskId: string): Promise<void> {
    try {
      await tasks.update(userId, taskId, { enabled: true });
    } catch (error) {
      if (!(error instanceof AppError) || error.status !== 404) throw error;
    }
  }
}
