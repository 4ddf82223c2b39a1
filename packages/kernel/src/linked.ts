/** A place in a list; whoever has it can leave. */
export interface Place<T> {
  value: T | undefined;
  before: Place<T> | undefined;
  after: Place<T> | undefined;
}

/**
 * For what comes and goes with every request, in the order of coming. A Set or Map replaces its table every few dozen
 * changes; an old table still holds its members and points to its successor. Once one of them has reached the old
 * generation all later ones follow it there, with every request that they have seen, until a full collection (ADR 22). A
 * place that was left points to nothing.
 */
export class Linked<T extends object> {
  readonly #ends: Place<T> = { value: undefined, before: undefined, after: undefined };
  size = 0;

  add(value: T): Place<T> {
    const last = this.#ends.before;
    const place: Place<T> = { value, before: last, after: undefined };
    if (last) last.after = place;
    else this.#ends.after = place;
    this.#ends.before = place;
    this.size += 1;
    return place;
  }

  /** May be said twice; false: it had left before. */
  delete(place: Place<T>): boolean {
    if (place.value === undefined) return false;
    const { before, after } = place;
    (before ?? this.#ends).after = after;
    (after ?? this.#ends).before = before;
    place.value = place.before = place.after = undefined;
    this.size -= 1;
    return true;
  }

  first(): T | undefined {
    return this.#ends.after?.value;
  }

  /** The one that has `later` others after it. */
  fromLast(later: number): T | undefined {
    let place = this.#ends.before;
    for (let left = later; place && left > 0; left -= 1) place = place.before;
    return place?.value;
  }

  /** The first, which leaves. */
  shift(): T | undefined {
    const place = this.#ends.after;
    const value = place?.value;
    if (place) this.delete(place);
    return value;
  }

  values(): T[] {
    const values: T[] = [];
    for (let place = this.#ends.after; place; place = place.after) values.push(place.value!);
    return values;
  }
}
