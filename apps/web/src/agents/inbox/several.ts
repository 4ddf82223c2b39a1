import { ONE_ANSWER, UNLIKE, type InboxItem, type TypesOf, type web } from '@troupe/contract';
import { AppError, type Log, type User } from '@troupe/kernel';
import type { ConversationsService } from '../conversations/service.ts';
import type { MarksService } from './marks.ts';
import type { InboxService } from './service.ts';

interface SeveralDeps {
  inbox: Pick<InboxService, 'read'>;
  marks: Pick<MarksService, 'put'>;
  conversations: Pick<ConversationsService, 'decide'>;
  log: Log;
}

type Asked = TypesOf<typeof web.inbox.decide>['body'];
type Decided = TypesOf<typeof web.inbox.decide>['reply']['decided'][number];
type Call = Extract<InboxItem, { kind: 'approval' }>;

export type SeveralService = ReturnType<typeof createSeveral>;

const GONE = 'It does not wait any more';

/** What is allowed by one word must be one thing; everything may be refused. */
function requireAlike(calls: readonly Call[], { approved, answer }: Asked): void {
  const questions = calls.filter(({ question }) => question !== undefined).length;
  if (questions > 0 && questions < calls.length && (approved || answer !== undefined))
    throw new AppError(409, ONE_ANSWER);
  if (approved && questions === 0 && new Set(calls.map(({ tool }) => tool)).size > 1) throw new AppError(409, UNLIKE);
}

/** Decides several things of one inbox, one after the other: each is its agent's to take. */
export function createSeveral({ inbox, marks, conversations, log }: SeveralDeps) {
  async function decideOne(user: User, call: Call, { approved, answer }: Asked, words: string, address: string) {
    const decision = { approved, ...(answer !== undefined && { answer }) };
    await conversations.decide(user, call.agentId, call.id, decision, address);
    // It has happened: a note that fails must not say otherwise.
    await marks
      .put(user.id, call.id, { state: 'decided', words })
      .catch((error: unknown) => log.warn({ err: error }, 'what was decided could not be noted'));
  }

  return {
    async decide(user: User, asked: Asked, address: string): Promise<{ decided: Decided[] }> {
      const { items } = await inbox.read(user, address);
      const waiting = new Map(items.flatMap((item) => (item.kind === 'approval' ? [[item.id, item] as const] : [])));
      const calls = asked.items.map(({ id, agentId, words }) => {
        const call = waiting.get(id);
        return { id, words, call: call?.agentId === agentId ? call : undefined };
      });
      requireAlike(
        calls.flatMap(({ call }) => call ?? []),
        asked,
      );
      const decided: Decided[] = [];
      for (const { id, words, call } of calls) {
        try {
          if (call) await decideOne(user, call, asked, words, address);
          decided.push({ id, error: call ? null : GONE });
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          decided.push({ id, error: error.message });
        }
      }
      return { decided };
    },
  };
}
