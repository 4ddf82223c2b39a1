import type { Branch } from '@troupe/contract';

/** The branches of a conversation that can be seen from one of them, at the message where they part. */
export interface Choice {
  /** One session for each way to go on, the oldest way first. */
  ids: string[];
  /** The one that is shown. */
  index: number;
}

type Tree = Map<string, Branch>;

/** Each session that this one comes from, with the last step that both have. */
function ancestry(tree: Tree, id: string): Map<string, number> {
  const found = new Map<string, number>();
  let [common, at] = [Infinity, tree.get(id)];
  while (at && !found.has(at.id)) {
    found.set(at.id, common);
    common = Math.min(common, at.branchAt ?? 0);
    at = at.branchOf === null ? undefined : tree.get(at.branchOf);
  }
  return found;
}

/** The last step that two sessions have in common. */
function commonSteps(tree: Tree, a: string, b: string): number {
  const [left, right] = [ancestry(tree, a), ancestry(tree, b)];
  let most = 0;
  for (const [id, steps] of left) most = Math.max(most, Math.min(steps, right.get(id) ?? 0));
  return most;
}

/** Where there is something to choose: by the number of the message of `current` at which the ways part. */
export function choicesIn(branches: Branch[], current: string, messages: number[]): Map<number, Choice> {
  const tree: Tree = new Map(branches.map((one) => [one.id, one]));
  const choices = new Map<number, Choice>();
  if (!tree.has(current)) return choices;
  const partsAt = (id: string): number => {
    const steps = commonSteps(tree, current, id);
    return messages.find((seq) => seq > steps) ?? Infinity;
  };
  for (const seq of new Set(branches.filter(({ id }) => id !== current).map(({ id }) => partsAt(id)))) {
    if (seq === Infinity) continue;
    // Those that come as far as this message, put together where they share it.
    const ways: Branch[][] = [];
    for (const one of branches.filter(({ id }) => id === current || partsAt(id) >= seq)) {
      const way = ways.find(([first]) => commonSteps(tree, first!.id, one.id) >= seq);
      if (way) way.push(one);
      else ways.push([one]);
    }
    const shown = ways.map((way) =>
      way.some(({ id }) => id === current)
        ? current
        : way.reduce((newest, one) => (one.updatedAt > newest.updatedAt ? one : newest)).id,
    );
    choices.set(seq, { ids: shown, index: shown.indexOf(current) });
  }
  return choices;
}
