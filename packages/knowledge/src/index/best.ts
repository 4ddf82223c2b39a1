export interface Ranked {
  collection: number;
  number: number;
  score: number;
}

const isBefore = (a: Ranked, b: Ranked): boolean =>
  a.score > b.score || (a.score === b.score && (a.collection - b.collection || a.number - b.number) < 0);

/** Keeps the best of many, the worst of them on top of a heap: most are worse than that, and cost a comparison. */
export function createBest(most: number) {
  const heap: Ranked[] = [];
  const swap = (a: number, b: number): void => {
    [heap[a], heap[b]] = [heap[b]!, heap[a]!];
  };
  function up(at: number): void {
    for (let child = at; child > 0;) {
      const parent = (child - 1) >> 1;
      if (!isBefore(heap[parent]!, heap[child]!)) return;
      swap(parent, child);
      child = parent;
    }
  }
  function down(): void {
    for (let parent = 0; ;) {
      let last = parent;
      for (const child of [2 * parent + 1, 2 * parent + 2])
        if (child < heap.length && isBefore(heap[last]!, heap[child]!)) last = child;
      if (last === parent) return;
      swap(parent, last);
      parent = last;
    }
  }
  return {
    /** What a score has to be above. */
    least: (): number => (heap.length < most ? 0 : heap[0]!.score),
    offer(collection: number, number: number, score: number): void {
      const one = { collection, number, score };
      if (heap.length < most) up(heap.push(one) - 1);
      else if (isBefore(one, heap[0]!)) {
        heap[0] = one;
        down();
      }
    },
    take: (): Ranked[] => heap.toSorted((a, b) => (isBefore(a, b) ? -1 : 1)),
  };
}
