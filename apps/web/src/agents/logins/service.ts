import { LOGIN_NOT_FOUND, MOST_LOGINS, TOO_MANY_LOGINS, type TypesOf, type web } from '@troupe/contract';
import { AppError, iso, type Clock } from '@troupe/kernel';
import type { Logins, Roster } from '@troupe/roster';

export type LoginsService = ReturnType<typeof createLoginsService>;

type Save = TypesOf<typeof web.logins.save>;

/** What agents sign in with. Nothing that was given is ever told again. */
export function createLoginsService({ roster, logins, clock }: { roster: Roster; logins: Logins; clock: Clock }) {
  async function own(userId: string, agentId: string) {
    await roster.of(userId).get(agentId);
    return { userId, agentId };
  }

  return {
    async list(userId: string, agentId: string) {
      const rows = await logins.list(await own(userId, agentId));
      const all = rows.map(({ name, origin, updated_at }) => ({ name, origin, updatedAt: iso(updated_at) }));
      return { logins: all, count: all.length };
    },

    async save(userId: string, { id, name }: Save['params'], given: Save['body']) {
      const isSaved = await logins.save(await own(userId, id), { name, ...given }, { most: MOST_LOGINS, at: clock() });
      if (!isSaved) throw new AppError(409, TOO_MANY_LOGINS);
      return { success: true as const };
    },

    async remove(userId: string, agentId: string, name: string) {
      if (!(await logins.remove(await own(userId, agentId), name))) throw new AppError(404, LOGIN_NOT_FOUND);
      return { success: true as const };
    },
  };
}
