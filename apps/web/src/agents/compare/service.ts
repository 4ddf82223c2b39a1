import type { TypesOf, web } from '@troupe/contract';
import { AppError, type User } from '@troupe/kernel';
import type { Roster } from '@troupe/roster';
import type { ConversationsService } from '../conversations/service.ts';
import type { KnownModels } from '../models/service.ts';

type Asked = TypesOf<typeof web.compare.start>['body'];
type Side = TypesOf<typeof web.compare.start>['reply']['sides'][number];

export type CompareService = ReturnType<typeof createCompare>;

export function createCompare({
  roster,
  models,
  conversations,
}: {
  roster: Roster;
  models: Pick<KnownModels, 'check'>;
  conversations: Pick<ConversationsService, 'say'>;
}) {
  /** What is wrong with one of them is said before any of them has cost something. */
  async function check(user: User, sides: Asked['sides']): Promise<void> {
    const own = roster.of(user.id);
    for (const { agentId, model } of sides) {
      const { provider_key: key } = await own.get(agentId);
      if (model !== null && key === null) await models.check([model]);
    }
  }

  return {
    async start(user: User, { id, message, sides }: Asked, address: string) {
      await check(user, sides);
      /** One that cannot be asked now, its agent stopped or its cap reached, is no reason not to hear the others. */
      const ask = async ({ agentId, model }: Asked['sides'][number], index: number): Promise<Side> => {
        const name = `compare-${id}-${index + 1}`;
        try {
          const said = { message, topic: name, id: name, ...(model !== null && { model }) };
          const { sessionId } = await conversations.say(user, agentId, said, address);
          return { agentId, model, sessionId, error: null };
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          return { agentId, model, sessionId: null, error: error.message };
        }
      };
      return { id, sides: await Promise.all(sides.map(ask)) };
    },
  };
}
