import type { LiveEvent, LiveThought } from '../agent.ts';
import type { SessionEvent } from '../session/events.ts';
import { canSettle } from '../session/session.ts';

export type Listener = (event: LiveEvent) => void;
type Delta = Extract<LiveEvent, { kind: 'delta' }>;

/** Those who hear what happens in the sessions of one agent, in this process. */
export class Audience {
  /** By session; whether the listener wants text as it is written. */
  readonly #listeners = new Map<string, Map<Listener, boolean>>();
  readonly #minds = new Map<string, Set<(thought: LiveThought) => void>>();
  /** What is being written at this moment: who comes in the middle hears it from the start. */
  readonly #writing = new Map<string, Delta>();

  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  /** Call the result to stop. */
  watch(sessionId: string, listener: Listener, wantsText = true): () => void {
    const own = this.#listeners.get(sessionId) ?? new Map<Listener, boolean>();
    this.#listeners.set(sessionId, own.set(listener, wantsText));
    return () => {
      own.delete(listener);
      if (own.size === 0 && this.#listeners.get(sessionId) === own) this.#listeners.delete(sessionId);
    };
  }

  /** The same for what is thought; only of what somebody watches. */
  watchThoughts(sessionId: string, listener: (thought: LiveThought) => void): () => void {
    const own = this.#minds.get(sessionId) ?? new Set();
    this.#minds.set(sessionId, own.add(listener));
    return () => {
      own.delete(listener);
      if (own.size === 0 && this.#minds.get(sessionId) === own) this.#minds.delete(sessionId);
    };
  }

  thought(sessionId: string, text: string, saw: number): void {
    this.#minds.get(sessionId)?.forEach((listener) => listener({ kind: 'thought', sessionId, text, saw }));
  }

  wantsText(sessionId: string): boolean {
    const own = this.#listeners.get(sessionId);
    if (own) for (const wantsText of own.values()) if (wantsText) return true;
    return false;
  }

  writing(sessionId: string): Delta | undefined {
    return this.#writing.get(sessionId);
  }

  /** An input that came in. */
  told(sessionId: string, event: SessionEvent): void {
    this.#emit({ kind: 'event', sessionId, event });
  }

  /** A step that is stored. */
  stored(sessionId: string, event: SessionEvent): void {
    if (canSettle(event)) this.#writing.delete(sessionId);
    this.told(sessionId, event);
  }

  /** A piece of text that is not. */
  written(sessionId: string, text: string, saw: number, isFresh: boolean): void {
    const before = isFresh ? '' : (this.#writing.get(sessionId)?.text ?? '');
    this.#writing.set(sessionId, { kind: 'delta', sessionId, text: before + text, saw, fresh: true });
    this.#emit({ kind: 'delta', sessionId, text, saw, ...(isFresh && { fresh: true }) });
  }

  #emit(event: LiveEvent): void {
    this.#listeners.get(event.sessionId)?.forEach((_wantsText, listener) => listener(event));
  }
}
