import { MARK_WORDS, web } from '@troupe/contract';
import type { InboxMark, TypesOf } from '@troupe/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { carefully, stale } from '../../../api.ts';
import { address, exactMoney, inDollars } from '../../../format.ts';
import { inbox as texts } from '../../../texts/access.ts';
import { useSay } from '../../../ui/toast.tsx';
import { approvalTitle } from '../conversations/approval.tsx';
import { canUndo } from './waiting.ts';
import type { Waiting } from './waiting.ts';

/** What it was, in a line, for when it is gone. */
export function wordsOf(waiting: Waiting): string {
  switch (waiting.kind) {
    case 'approval': {
      const { agentName, question, tool, args } = waiting.item;
      return `${agentName}: ${question?.message ?? approvalTitle(tool, args)}`;
    }
    case 'visitor':
      return `${waiting.item.widgetTitle}: ${waiting.item.words}`;
    case 'join':
      return texts.asks(waiting.item.name);
    case 'device':
      return texts.pairs(waiting.item.name, '');
    case 'payment':
      return texts.sum(exactMoney(waiting.item.amount), address(waiting.item.recipient));
    case 'trouble':
      return inDollars(waiting.item.message);
  }
}

type Body = TypesOf<typeof web.inbox.put>['sent']['body'];

/** Puts something off, is done with it, or notes what was decided. It works on when its card is gone. */
export function useMark(waiting: Waiting) {
  const queries = useQueryClient();
  const say = useSay();
  const put = (body: Omit<Body, 'words'>, what = '') => {
    const words = `${what && `${what.replace(/\.$/, '')}. `}${wordsOf(waiting)}`.slice(0, MARK_WORDS);
    return carefully(web.inbox.put, { params: { item: waiting.key }, body: { ...body, words } }).then(
      async () => {
        await stale(queries, web.inbox.get, web.notices.list);
        return true;
      },
      (error: Error) => {
        say.error(error);
        return false;
      },
    );
  };
  return {
    later: (until: Date) => put({ state: 'later', until: until.toISOString() }),
    done: () => put({ state: 'done' }),
    decided: (what: string, taskId?: string) => put({ state: 'decided', ...(taskId && { taskId }) }, what),
  };
}

/** A card, and who notes what was decided on it. */
export interface Decided<T> {
  item: T;
  onDecided: ReturnType<typeof useMark>['decided'];
}

/** Says what was decided, and notes it. */
export function useTold(onDecided: Decided<unknown>['onDecided']) {
  const say = useSay();
  return (words: string, taskId?: string) => {
    say(words);
    void onDecided(words, taskId);
  };
}

/** Undoes a mark, or those that were made at once; says so where that cannot be. */
export function useUndo(): (...marks: InboxMark[]) => void {
  const say = useSay();
  const queries = useQueryClient();
  const { mutate } = useMutation({
    mutationFn: async (items: readonly string[]) => {
      for (const item of items) await carefully(web.inbox.remove, { params: { item } });
    },
    onSuccess: () => say(texts.undone),
    onError: (error) => say.error(error),
    onSettled: () => stale(queries, web.inbox.get, web.notices.list, web.tasks.list),
  });
  return (...marks) => {
    const [first] = marks;
    if (!first) say(texts.nothingToUndo);
    else if (!canUndo(first)) say(texts.cannotUndo, first.words);
    else mutate(marks.map(({ item }) => item));
  };
}

/** The newest mark, with those that were made together with it. */
export const lastMarks = (marks: readonly InboxMark[]): InboxMark[] =>
  marks.filter(({ markedAt, state }) => markedAt === marks[0]?.markedAt && state === marks[0]?.state);
