import { IN_FRONT, MOST_ON_STAGE, type StageActor } from '@troupe/contract';
import type { Database } from '@troupe/db';
import { plainMarkdown } from '@troupe/domain';
import { createReadTurns, iso, type Clock } from '@troupe/kernel';
import { frontOf, readStage, spentOn } from './store.ts';

/** A line of a list has no room for headings and bold words. */
const unmarked = (said: { text: string; at: string }) => ({ ...said, text: plainMarkdown(said.text) });

export type StageService = ReturnType<typeof createStage>;

/** Every agent as it is now. */
export function createStage({ db, clock }: { db: Database; clock: Clock }) {
  const reading = createReadTurns();

  async function look(userId: string): Promise<{ agents: StageActor[]; more: boolean; todayUsd: number }> {
    const day = iso(clock()).slice(0, 10);
    const agents = await readStage(db.user(userId), userId, MOST_ON_STAGE + 1, day);
    const todayUsd = await spentOn(db.user(userId), userId, day);
    const ids = agents.slice(0, IN_FRONT).map(({ id }) => id);
    const told = await frontOf(db.user(userId), userId, ids);
    const front = new Map(told.map((one) => [one.id, { ...one, said: one.said && unmarked(one.said) }]));
    return {
      agents: agents.slice(0, MOST_ON_STAGE).map((one) => ({ ...one, said: null, next: null, ...front.get(one.id) })),
      more: agents.length > MOST_ON_STAGE,
      todayUsd,
    };
  }

  return { read: (userId: string) => reading(userId, () => look(userId)) };
}
