import { IN_FRONT } from '@troupe/contract';
import type { StageActor } from '@troupe/contract';
import { isPinned, withPin } from '../../agents/agents/tags.ts';

export const isBusy = ({ state }: Pick<StageActor, 'state'>): boolean => state === 'working' || state === 'waits';

/** The order in which states are told. */
export const STATES = ['working', 'waits', 'trouble', 'ready', 'off'] as const;
/** What those who are not in front stand by. */
export const GROUPED = ['team', 'tag', 'state'] as const;
export type GroupedBy = (typeof GROUPED)[number];

export interface Group {
  key: string;
  /** A team's or a tag's name, or the state; null: those without. */
  name: string | null;
  actors: StageActor[];
}

export interface Staged {
  front: StageActor[];
  /** At work, but without room in front. */
  hidden: number;
  groups: Group[];
}

/** Wherever something happens, nobody changes places. */
const byName = (a: StageActor, b: StageActor): number =>
  a.name.localeCompare(b.name, 'en') || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

const NAMES: Record<GroupedBy, (actor: StageActor) => [key: string, name: string | null]> = {
  team: ({ teamId, teamName }) => [teamId ?? '', teamName],
  // The pin is the sidebar's.
  tag: ({ tags }) => {
    const tag = (isPinned({ tags }) ? withPin(tags, false) : tags)[0];
    return [tag?.toLowerCase() ?? '', tag ?? null];
  },
  state: ({ state }) => [state, state],
};

/** Few are all in front; of many, those at work. The others stand by team, tag or state. */
export function stagedOf(agents: readonly StageActor[], by: GroupedBy = 'team'): Staged {
  if (agents.length <= IN_FRONT) return { front: agents.toSorted(byName), hidden: 0, groups: [] };
  const busy = agents.filter(isBusy);
  const front = new Set(busy.slice(0, IN_FRONT));
  const groups = new Map<string, Group>();
  for (const actor of agents) {
    if (front.has(actor)) continue;
    const [key, name] = NAMES[by](actor);
    const group = groups.get(key) ?? { key, name, actors: [] };
    group.actors.push(actor);
    groups.set(key, group);
  }
  return {
    front: [...front].sort(byName),
    hidden: busy.length - front.size,
    groups: inOrder([...groups.values()], by),
  };
}

function inOrder(groups: Group[], by: GroupedBy): Group[] {
  const place = ({ key }: Group): number => (STATES as readonly string[]).indexOf(key);
  if (by === 'state') return groups.toSorted((a, b) => place(a) - place(b));
  // Those without come last.
  return groups.toSorted((a, b) =>
    a.name === null || b.name === null
      ? Number(a.name === null) - Number(b.name === null)
      : a.name.localeCompare(b.name, 'en'),
  );
}
