import { MOST_ON_STAGE, type StageActor } from '@troupe/contract';
import type { Database } from '@troupe/db';
import { iso, type Clock } from '@troupe/kernel';
import { readStage, spentOn } from './store.ts';

export type StageService = ReturnType<typeof createStage>;

/** Every agent as it is now. */
export function createStage({ db, clock }: { db: Database; clock: Clock }) {
  return {
    async read(userId: string): Promise<{ agents: StageActor[]; more: boolean; todayUsd: number }> {
      const day = iso(clock()).slice(0, 10);
      const [agents, todayUsd] = await Promise.all([
        readStage(db.user(userId), userId, MOST_ON_STAGE + 1, day),
        spentOn(db.user(userId), userId, day),
      ]);
      return { agents: agents.slice(0, MOST_ON_STAGE), more: agents.length > MOST_ON_STAGE, todayUsd };
    },
  };
}
