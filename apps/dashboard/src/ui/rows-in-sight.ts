/** Which of many rows are in the document. */
export interface Sight {
  /** Of the view, from the top of the first row, in pixels. */
  top: number;
  height: number;
}

/** A row by its number, or the room of those that are left out. */
export type Piece = { row: number } | { room: number; before: number };

/** Rows beside those in sight: a step of the keyboard lands on one that is there. */
const BESIDE = 3;

/** Where each row begins, and at the end where the last one ends. */
export function startsOf(heights: readonly number[]): number[] {
  const starts = [0];
  for (const height of heights) starts.push(starts.at(-1)! + height);
  return starts;
}

/** The last row that begins at this height or above it. */
function rowAt(starts: readonly number[], height: number): number {
  let [low, high] = [0, Math.max(0, starts.length - 2)];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= height) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** From the first row in sight to the one after the last, with those beside them. */
export function rangeOf(starts: readonly number[], { top, height }: Sight): [from: number, to: number] {
  const count = starts.length - 1;
  const from = rowAt(starts, top) - BESIDE;
  const to = rowAt(starts, top + height) + 1 + BESIDE;
  return [Math.max(0, Math.min(from, count)), Math.max(0, Math.min(to, count))];
}

/** The rows of a range and the one with the focus, wherever it is, with room for all the others. */
export function piecesOf(starts: readonly number[], [from, to]: [number, number], focused: number): Piece[] {
  const count = starts.length - 1;
  const last = Math.min(to, count);
  const shown = Array.from({ length: Math.max(0, last - from) }, (_, place) => from + place);
  if (focused >= 0 && focused < count && !(focused >= from && focused < last)) shown.push(focused);
  shown.sort((a, b) => a - b);
  const pieces: Piece[] = [];
  let next = 0;
  for (const row of [...shown, count]) {
    if (row > next) pieces.push({ room: starts[row]! - starts[next]!, before: row });
    if (row < count) pieces.push({ row });
    next = row + 1;
  }
  return pieces;
}
