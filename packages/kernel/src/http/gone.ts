/** Says when nobody waits for a piece of work any more. An AbortSignal is one of these, too. */
export interface Waited {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted: () => void;
  addEventListener: (type: 'abort', listener: () => void, options?: { once: true }) => void;
  removeEventListener: (type: 'abort', listener: () => void) => void;
}

/** The least of it, for what is made with every request: an AbortController and a listener cost many times as much. */
export class Gone implements Waited {
  #reason: unknown;
  #aborted = false;
  #listeners: (() => void)[] = [];

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }

  abort(): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = new DOMException('This operation was aborted', 'AbortError');
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}
