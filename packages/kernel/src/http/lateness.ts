/** How often the loop is looked at while somebody asks. */
const TICK_MS = 10;
/** A turn that is so late has a queue behind it: what asks the database a dozen times waits for it a dozen times. */
const LATE_MS = 25;
/** One long turn is no queue: so many in a row, for so long. */
const TIMES = 5;
const FOR_MS = 250;
/** Nobody is looked after longer than that who does not ask again. */
const ASKED_MS = 1000;

/**
 * Says whether the loop is late again and again: more comes than it can do. Asked only where there is much to do, it costs
 * nothing else.
 */
export function createLateness(now: () => number = () => performance.now()): () => boolean {
  let isWatched = false;
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
    if (at - due < LATE_MS) times = 0;
    else if ((times += 1) === 1) since = due;
    isWatched = at - askedAt < ASKED_MS;
    if (isWatched) next();
    else times = 0;
  }
  return () => {
    askedAt = now();
    if (!isWatched) {
      isWatched = true;
      next();
    }
    return times >= TIMES && askedAt - since >= FOR_MS;
  };
}
