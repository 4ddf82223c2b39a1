/** Seats for programs that go on: so many in all, and so many for one owner. */

export interface Seats {
  /** Gives the seat back; undefined: none is free. */
  take: (owner: string) => (() => void) | undefined;
}

export function createSeats({ all, perOwner }: { all: number; perOwner: number }): Seats {
  const taken = new Map<string, number>();
  let count = 0;
  return {
    take(owner) {
      const own = taken.get(owner) ?? 0;
      if (count >= all || own >= perOwner) return undefined;
      count += 1;
      taken.set(owner, own + 1);
      let given = false;
      return () => {
        if (given) return;
        given = true;
        count -= 1;
        const left = (taken.get(owner) ?? 1) - 1;
        if (left > 0) taken.set(owner, left);
        else taken.delete(owner);
      };
    },
  };
}
