import { setTimeout as delay } from 'node:timers/promises';
import { AppError, createFairQueue, type Log } from '@troupe/kernel';
import type { Answer } from '../agent.ts';
import { NOTHING_SPENT } from '../session/events.ts';
import type { BackgroundTask, NewTask, TaskStatus } from '../store/background.ts';
import type { AgentStore } from '../store/store.ts';
import { peerOf, type Peer, type Peers } from '../tools/transfer-task.ts';
import type { BackgroundDesk } from '../tools/tool.ts';
import { untilAborted } from '../until-aborted.ts';
import { capped } from './tool-step.ts';

/**
 * The tasks that an agent has in the background: each is a row, then work in a conversation of the member's own, then an end
 * in the row, then a word in the lead's conversation. Every step can be done twice and counts once, so whoever finds a row
 * that is in nobody's hands goes on from what it says.
 */

/** Conversations of members that belong to such a task. */
const CHANNEL = 'background';
/** Under way at once. */
const BOUNDS = { ofLead: 100, ofUser: 200 };
const MAX_DEPTH = 3;
const TAKEN_AT_ONCE = 100;
/** A member that waits for its owner is looked at again after so long, ever more seldom. */
const WAITS_MS = [500, 1_000, 2_000, 5_000, 10_000, 30_000];
/** A member that cannot be reached is tried again so often. */
const TRIES_MS = [500, 2_000, 5_000, 10_000];

/** What broke off for no reason of its own is looked at again after this. */
const AGAIN_MS = 5_000;

/** Handing over is work for this process: users take turns in it. What members then do waits for models most of the time. */
const handing = createFairQueue({ width: 8, perKey: 4, waiting: Infinity, waitingPerKey: Infinity });

export interface BackgroundDeps {
  owner: string;
  store: AgentStore;
  peers: Peers | undefined;
  log: Log;
  lease: { owner: string; ttlMs: number };
  renewMs: number;
  /** Puts the end of a task into the conversation that it came from, once. */
  tell: (task: BackgroundTask) => Promise<void>;
}

const REFUSED: Readonly<Record<string, string>> = {
  lead: `You have ${BOUNDS.ofLead} tasks in the background, which is the most at once. Wait for results, or stop some.`,
  user: `Your owner’s agents have ${BOUNDS.ofUser} tasks in the background, which is the most at once. Try it later.`,
  gone: 'This conversation is gone.',
};
const TOO_DEEP = `This is work in the background already, ${MAX_DEPTH} deep: use transfer_task, or do it yourself.`;

export class Background implements BackgroundDesk {
  readonly #deps: BackgroundDeps;
  /** In this process’ hands. */
  readonly #held = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #again: NodeJS.Timeout | undefined;

  constructor(deps: BackgroundDeps) {
    this.#deps = deps;
  }

  /** Throws what the model is told when it cannot be. */
  async start(task: NewTask): Promise<void> {
    if (task.depth > MAX_DEPTH) throw new AppError(409, TOO_DEEP);
    const { store, lease } = this.#deps;
    const added = await store.addTask(task, BOUNDS, lease);
    const why = REFUSED[added];
    if (why !== undefined) throw new AppError(409, why);
    // One that was known goes on wherever it is, or is taken up.
    const row = added === 'added' ? await store.task(task.id) : undefined;
    if (row) this.#hold(row);
  }

  /** False: it had ended before. */
  async stop(id: string, { tells, says }: { tells: boolean; says: string }): Promise<boolean> {
    const { store } = this.#deps;
    if (!(await store.endTask(id, { status: 'stopped', result: says, tells }))) return false;
    const row = await store.task(id);
    if (row) await this.#settle(row);
    return true;
  }

  task(id: string): Promise<BackgroundTask | undefined> {
    return this.#deps.store.task(id);
  }

  tasks(sessionId: string): Promise<BackgroundTask[]> {
    return this.#deps.store.tasks({ limit: BOUNDS.ofLead, sessionId });
  }

  /** All of a conversation, or of the agent; nobody is told. */
  async stopAll(says: string, sessionId?: string): Promise<number> {
    const found = await this.#deps.store.tasks({
      limit: BOUNDS.ofLead,
      running: true,
      ...(sessionId && { sessionId }),
    });
    const stopped = await Promise.all(found.map(({ id }) => this.stop(id, { tells: false, says })));
    return stopped.filter(Boolean).length;
  }

  /** Goes on with what a process that died, or slept, has left. */
  async resume(): Promise<number> {
    if (this.#deps.peers === undefined || this.#closing.signal.aborted) return 0;
    const { log, lease } = this.#deps;
    // What a process that just died still holds is nobody's after that.
    this.#again ??= setTimeout(() => {
      this.#take().catch((err: unknown) => log.warn({ err }, 'background tasks could not be taken up'));
    }, lease.ttlMs).unref();
    return this.#take();
  }

  async #take(): Promise<number> {
    const taken = await this.#deps.store.takeTasks(this.#deps.lease, TAKEN_AT_ONCE);
    for (const row of taken) this.#hold(row);
    return taken.length;
  }

  busy(): number {
    return this.#held.size;
  }

  /** Lets everything go; whoever wakes the agent next goes on. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#timer);
    clearTimeout(this.#again);
    await Promise.allSettled(this.#held.values());
    await this.#deps.store.releaseTasks(this.#deps.lease.owner);
  }

  #hold(row: BackgroundTask): void {
    if (this.#held.has(row.id) || this.#closing.signal.aborted) return;
    const { log, store, lease, renewMs } = this.#deps;
    this.#timer ??= setInterval(() => {
      store.renewTasks(lease).catch((err: unknown) => log.warn({ err }, 'background tasks could not be kept in hand'));
    }, renewMs).unref();
    const done = this.#see(row).finally(() => {
      this.#held.delete(row.id);
      if (this.#held.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
    this.#held.set(row.id, done);
  }

  /** From whatever its row says to its end. What fails is tried again until it is gone, or another's. */
  async #see(found: BackgroundTask): Promise<void> {
    const { signal } = this.#closing;
    let row: BackgroundTask | undefined = found;
    while (row && !signal.aborted) {
      try {
        const ended = row.status === 'running' ? await this.#work(row) : row;
        if (ended) await this.#settle(ended);
        return;
      } catch (err) {
        if (signal.aborted) return;
        this.#deps.log.warn({ err, taskId: found.id }, 'a background task broke off; it is taken up again');
        row = await this.#later(found);
      }
    }
  }

  async #later(row: BackgroundTask): Promise<BackgroundTask | undefined> {
    const { signal } = this.#closing;
    await delay(AGAIN_MS, undefined, { signal, ref: false }).catch(() => undefined);
    // Whoever cannot say now how it is has the old picture, which is none too many.
    return signal.aborted ? undefined : this.#deps.store.task(row.id).catch(() => row);
  }

  /** The row at its end; undefined: it is gone. */
  async #work(row: BackgroundTask): Promise<BackgroundTask | undefined> {
    const { store } = this.#deps;
    const { reply, spent, ...answer } = await this.#answer(row);
    const status: Exclude<TaskStatus, 'running'> =
      answer.outcome === 'done' ? 'done' : answer.outcome === 'cancelled' ? 'stopped' : 'failed';
    await store.endTask(row.id, { status, result: capped(reply), spent });
    // Somebody who stopped it has said so there.
    return store.task(row.id);
  }

  async #answer(row: BackgroundTask): Promise<Pick<Answer, 'outcome' | 'reply' | 'spent'>> {
    const { signal } = this.#closing;
    for (let tries = 0, looks = 0; ;) {
      try {
        const peer = await peerOf(this.#deps.peers, { agentId: row.memberId, name: row.member });
        if (!peer) return failed(`${row.member} is not there any more.`);
        const answer = await untilAborted(this.#ask(peer, row), signal);
        if (answer.outcome !== 'waiting') return answer;
        await delay(WAITS_MS[Math.min(looks++, WAITS_MS.length - 1)], undefined, { signal, ref: false });
      } catch (error) {
        signal.throwIfAborted();
        const wait = TRIES_MS[tries++];
        if (wait === undefined) return failed(error instanceof Error ? error.message : 'The member failed.');
        await delay(wait, undefined, { signal, ref: false });
      }
    }
  }

  /** Others of this user, and other users, hand theirs over meanwhile; what follows is the member's. */
  #ask(peer: Peer, row: BackgroundTask): Promise<Answer> {
    const { store, owner, log } = this.#deps;
    return new Promise((resolve, reject) => {
      const hand = async (): Promise<void> => {
        const taken = Promise.withResolvers<void>();
        const placed = async (sessionId: string): Promise<void> => {
          // Whoever stopped it before it got here found nothing to stop.
          if (!(await store.placeTask(row.id, sessionId))) await peer.stop(row.id, CHANNEL);
        };
        const asked = peer.ask({
          to: { channel: CHANNEL, key: row.id },
          inputId: row.id,
          content: row.task,
          from: 'lead',
          limits: row.limits,
          depth: row.depth,
          onTaken: ({ sessionId }) => {
            taken.resolve();
            placed(sessionId).catch((err: unknown) => log.warn({ err, taskId: row.id }, 'a task was not placed'));
          },
        });
        asked.then(resolve, reject);
        await Promise.race([taken.promise, asked.catch(() => undefined)]);
      };
      handing.run(owner, hand, this.#closing.signal).catch(reject);
    });
  }

  /** The member of one that was stopped hears it, then the lead; then nothing is left to be done. */
  async #settle(row: BackgroundTask): Promise<void> {
    const { peers, store, tell } = this.#deps;
    if (row.status === 'stopped') {
      const peer = await peerOf(peers, { agentId: row.memberId, name: row.member });
      await peer?.stop(row.id, CHANNEL);
    }
    if (row.tells) await tell(row);
    await store.settleTask(row.id);
  }
}

const failed = (reply: string) => ({ outcome: 'failed' as const, reply, spent: NOTHING_SPENT });

/** Letters of a result that the lead is shown unasked; it can look at all of it. */
const RESULT_SHOWN = 8_000;

/** What the lead reads of it. */
export function endOf({ id, member, status, result }: BackgroundTask): string {
  const head = `[The background task ${id} of ${member} has ended: ${status}]`;
  const rest = result.length - RESULT_SHOWN;
  const more = rest > 0 ? `\n[${rest} more characters: view_background_agent shows them]` : '';
  return `${head}\n${result.slice(0, RESULT_SHOWN)}${more}`;
}
