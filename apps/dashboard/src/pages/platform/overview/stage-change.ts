import type { StageActor, StageChange, TypesOf, web } from '@troupe/contract';

type Shown = TypesOf<typeof web.stage.get>['reply'];

/** As the platform lists them: those that wait, those at work, the others. */
const RANK: Partial<Record<StageActor['state'], number>> = { waits: 0, working: 1 };
const rankOf = ({ state }: StageActor): number => RANK[state] ?? 2;

const inOrder = (a: StageActor, b: StageActor): number =>
  rankOf(a) - rankOf(b) || a.name.localeCompare(b.name, 'en') || (a.id < b.id ? -1 : 1);

/** The stage with what has changed of it; who is the same stays the same object, and is not drawn again. */
export function withChange(old: Shown, { agents, gone, more, todayUsd }: StageChange): Shown {
  const now = new Map(old.agents.map((actor) => [actor.id, actor]));
  for (const id of gone) now.delete(id);
  for (const actor of agents) now.set(actor.id, actor);
  return { agents: [...now.values()].sort(inOrder), more, todayUsd };
}
