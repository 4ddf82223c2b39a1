/** Keys on the stage: the arrows go to the nearest agent on the screen, `t` takes over from the one with the focus. */

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const MOVES: Readonly<Record<string, [x: number, y: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
/** Beside counts more than ahead: what stands in the same row or column is meant first. */
const ASIDE = 3;

const middle = ({ left, right, top, bottom }: Box): [number, number] => [(left + right) / 2, (top + bottom) / 2];

/** Which of the boxes lies next in a direction; -1: none does. */
export function nearest(boxes: readonly Box[], from: number, key: string): number {
  const [dx, dy] = MOVES[key] ?? [0, 0];
  const start = boxes[from];
  if (!start || (dx === 0 && dy === 0)) return -1;
  const [x, y] = middle(start);
  let [best, least] = [-1, Infinity];
  for (const [index, box] of boxes.entries()) {
    const [atX, atY] = middle(box);
    const ahead = (atX - x) * dx + (atY - y) * dy;
    const aside = Math.abs((atX - x) * dy) + Math.abs((atY - y) * dx);
    if (ahead <= 1 || ahead + aside * ASIDE >= least) continue;
    [best, least] = [index, ahead + aside * ASIDE];
  }
  return best;
}

/** True: the key was for something. */
export function stageKey(stage: HTMLElement, key: string): boolean {
  const focused = document.activeElement;
  if (key === 't') {
    const button = focused?.closest('li')?.querySelector<HTMLElement>('[data-take-over]');
    button?.click();
    return button !== null && button !== undefined;
  }
  if (!Object.hasOwn(MOVES, key)) return false;
  const actors = [...stage.querySelectorAll<HTMLElement>('[data-actor]')].filter((one) => one.checkVisibility());
  const from = actors.findIndex((one) => one === focused);
  if (from < 0) return false;
  actors[
    nearest(
      actors.map((one) => one.getBoundingClientRect()),
      from,
      key,
    )
  ]?.focus();
  return true;
}
