/** How often the loop is looked at while somebody asks. */
const TICK_MS = 10;
/** A turn that is so late has a queue behind it: what asks the database a dozen times waits for it a dozen times. */
const LATE_MS = 25;
/** One long turn is no queue: so many in a row, for so long. */
const TIMES = 5;
const FOR_MS = 250;
/** Nobody is looked after longer than that who does not ask again. */
const ASKED_MS = 1000;
/** Of what there is, so much may stay at each look that finds the loop late; what comes meanwhile is more than can be done. */
const LESS = 0.9;
/** At each look that finds it in time; twice as much after three and a half seconds. */
const MORE = 1.002;
/** There is always room for so much: it is done in a moment. */
export const MUCH = 200;
/** Who has so much has enough. */
const ENOUGH = 100_000;

export interface Load {
  /** What is under way. */
  underWay: () => number;
  /** Milliseconds that what began last had waited. */
  waited: () => number;
  now?: () => number;
}

/**
 * Says how much may be under way: all, until the loop is late again and again, and then less and less, down to what it can
 * do. Room that is given back all at once is taken all at once, and it is late again: it grows slowly. Asked only where
 * there is much to do, it costs nothing else.
 */
export function createRoom({ underWay, waited, now = () => performance.now() }: Load): () => number {
  let isWatched = false;
  let room = Infinity;
  let due = 0;
  let askedAt = 0;
  let times = 0;
  let since = 0;

  function next(): void {
    due = now() + TICK_MS;
    setTimeout(look, TICK_MS).unref();
  }
  function look(): void {
    const at = now();
    if (Math.max(at - due, waited()) < LATE_MS) {
      times = 0;
      room = room * MORE < ENOUGH ? room * MORE : Infinity;
    } else if ((times += 1) === 1) since = due;
    if (times >= TIMES && at - since >= FOR_MS) room = Math.max(MUCH, Math.min(room, underWay()) * LESS);
    isWatched = at - askedAt < ASKED_MS;
    if (isWatched) return next();
    times = 0;
    room = Infinity;
  }
  return () => {
    askedAt = now();
    if (!isWatched) {
      isWatched = true;
      next();
    }
    return room;
  };
}
