import type { StageActor } from '@troupe/contract';

/** So many stand in front with what they do; the others are small. */
export const IN_FRONT = 12;

export const isBusy = ({ state }: Pick<StageActor, 'state'>): boolean => state === 'working' || state === 'waits';

export interface Staged {
  front: StageActor[];
  /** At work, but without room in front. */
  hidden: number;
  groups: { team: string | null; actors: StageActor[] }[];
}

/** Few are all in front; of many, those at work. The others stand by team, in the order in which they came. */
export function stagedOf(agents: readonly StageActor[]): Staged {
  if (agents.length <= IN_FRONT) return { front: [...agents], hidden: 0, groups: [] };
  const busy = agents.filter(isBusy);
  const front = new Set(busy.slice(0, IN_FRONT));
  const groups = Map.groupBy(
    agents.filter((actor) => !front.has(actor)),
    ({ teamId }) => teamId,
  );
  return {
    front: [...front],
    hidden: busy.length - front.size,
    groups: [...groups.values()].map((actors) => ({ team: actors[0]!.teamName, actors })),
  };
}
