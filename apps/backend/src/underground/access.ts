import { AppError } from '@troupe/kernel';
import type { Roster } from '@troupe/roster';

export type MustOwn = (userId: string, agentId: string) => Promise<void>;

/** 403 unless the agent is there and the user's. */
export const createMustOwn =
  (roster: Roster): MustOwn =>
  async (userId, agentId) => {
    if (!(await roster.of(userId).find(agentId))) throw new AppError(403, 'Agent not found or not owned by you');
  };
