import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { sessionWentOn } from '@troupe/contract';
import type { Database, Listener } from '@troupe/db';
import { newId, type Log } from '@troupe/kernel';
import type { SessionNews, Told } from '../session/news.ts';

export interface PgNewsDeps {
  db: Database;
  listener: Listener;
  log: Log;
  /** How often all sessions are looked at while nothing can be heard of them. */
  pollMs?: number;
  /** How often while everything is heard: nobody should wait for ever because of a line that is dead without saying so. */
  netMs?: number;
}

export interface PgNews extends SessionNews {
  close: () => Promise<void>;
}

const POLL_MS = 500;
const NET_MS = 30_000;
/** What this process stores itself is told to its readers directly, within that time; the rest comes in one piece. */
const SETTLE_MS = 10;
/** Who goes often comes back in a moment. */
const LEAVE_MS = 1000;
const AT_ONCE = 1000;
const GOODBYE_MS = 2000;

type Tell = (told: Told) => void;

/**
 * Hears of all sessions that are followed in this process over the connection that listens for all of it. The database is
 * told which they are, so that only they are told of. While the connection is away they are looked at, all in one query.
 */
class HeardNews implements PgNews {
  readonly #deps: PgNewsDeps;
  readonly #id = newId();
  readonly #watched = new Map<string, Set<Tell>>();
  /** Those that the database was not asked about yet, and those that nobody watches any more. */
  readonly #fresh = new Set<string>();
  readonly #left = new Set<string>();
  /** Heard of a moment ago. */
  readonly #heard = new Map<string, number>();
  readonly #stopListening: () => void;
  #isUp = false;
  #lookedAt = -Infinity;
  #isFailing = false;
  #timer: NodeJS.Timeout | undefined;
  #due = Infinity;
  #round: Promise<void> | undefined;
  #closed = false;

  constructor(deps: PgNewsDeps) {
    this.#deps = deps;
    this.#stopListening = deps.listener.on(sessionWentOn, (payload) => this.#hear(payload), {
      up: () => this.#line(true),
      down: () => this.#line(false),
    });
  }

  watch(sessionId: string, tell: Tell): () => void {
    const tells = this.#watched.get(sessionId) ?? new Set<Tell>();
    this.#watched.set(sessionId, tells.add(tell));
    this.#left.delete(sessionId);
    this.#fresh.add(sessionId);
    this.#wakeIn(0);
    return () => {
      if (!tells.delete(tell) || tells.size > 0) return;
      this.#watched.delete(sessionId);
      this.#fresh.delete(sessionId);
      this.#left.add(sessionId);
      this.#wakeIn(LEAVE_MS);
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopListening();
    clearTimeout(this.#timer);
    const goodbye = async (): Promise<void> => {
      await this.#round;
      await this.#leave(null).catch((err: unknown) => this.#deps.log.debug({ err }, 'what was followed is still told'));
    };
    // A database that is away must not hold up the end: what nobody renews ends by itself.
    await Promise.race([goodbye(), delay(GOODBYE_MS, undefined, { ref: false })]);
  }

  #hear(payload: string): void {
    const [id = '', last] = payload.split(' ');
    if (!this.#watched.has(id)) return;
    if (this.#heard.size === 0) setTimeout(() => this.#passOn(), SETTLE_MS);
    this.#heard.set(id, Math.max(Number(last), this.#heard.get(id) ?? 0));
  }

  #passOn(): void {
    const heard = [...this.#heard];
    this.#heard.clear();
    for (const [id, last] of heard) this.#tell(id, last);
  }

  #tell(id: string, told: Told): void {
    for (const tell of this.#watched.get(id) ?? []) tell(told);
  }

  /** Whatever was told before the line was up is looked for; what comes after is heard. */
  #line(isUp: boolean): void {
    this.#isUp = isUp;
    this.#lookedAt = -Infinity;
    if (this.#watched.size > 0) this.#wakeIn(0);
  }

  #wakeIn(ms: number): void {
    const due = performance.now() + ms;
    if (this.#closed || this.#round || this.#due <= due) return;
    clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(() => {
      this.#due = Infinity;
      this.#round = this.#look().finally(() => {
        this.#round = undefined;
        this.#goOn();
      });
    }, ms).unref();
  }

  #goOn(): void {
    const everyMs = this.#everyMs();
    if (this.#isFailing) this.#wakeIn(this.#pollMs());
    else if (this.#fresh.size > 0) this.#wakeIn(0);
    else if (this.#left.size > 0) this.#wakeIn(Math.min(LEAVE_MS, everyMs));
    if (this.#watched.size > 0) this.#wakeIn(Math.max(0, this.#lookedAt + everyMs - performance.now()));
  }

  #pollMs = (): number => this.#deps.pollMs ?? POLL_MS;
  #everyMs = (): number => (this.#isUp ? (this.#deps.netMs ?? NET_MS) : this.#pollMs());

  async #look(): Promise<void> {
    const startedAt = performance.now();
    const isWhole = startedAt >= this.#lookedAt + this.#everyMs() - 1;
    const left = [...this.#left];
    const asked = isWhole ? [...this.#watched.keys()] : [...this.#fresh];
    this.#left.clear();
    this.#fresh.clear();
    // Said before it is asked: a line that goes up or down meanwhile wants all of it again.
    if (isWhole) this.#lookedAt = startedAt;
    try {
      if (left.length > 0) await this.#leave(left);
      for (let from = 0; from < asked.length; from += AT_ONCE) await this.#ask(asked.slice(from, from + AT_ONCE));
      this.#isFailing = false;
    } catch (error) {
      for (const id of asked) if (this.#watched.has(id)) this.#fresh.add(id);
      for (const id of left) if (!this.#watched.has(id)) this.#left.add(id);
      if (!this.#isFailing) this.#deps.log.warn({ err: error }, 'what is followed could not be looked at');
      this.#isFailing = true;
    }
  }

  async #ask(ids: string[]): Promise<void> {
    const { rows } = await sql<{ id: string; last: number }>`
      select id, last_seq as last from agent_follow(${this.#id}, ${ids}::text[])`.execute(this.#deps.db.system);
    const found = new Map(rows.map(({ id, last }) => [id, last]));
    for (const id of ids) this.#tell(id, found.get(id));
  }

  async #leave(ids: string[] | null): Promise<void> {
    await sql`select agent_unfollow(${this.#id}, ${ids}::text[])`.execute(this.#deps.db.system);
  }
}

export const createPgNews = (deps: PgNewsDeps): PgNews => new HeardNews(deps);
