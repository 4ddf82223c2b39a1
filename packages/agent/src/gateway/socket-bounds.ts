import { STALLED_MS } from '@troupe/kernel';
import type { WebSocket } from 'ws';

/** What one connection may ask for: an agent is somebody's, the process that serves it is everybody's. */
export const SOCKET_BOUNDS = {
  /** One message has 100,000 characters at most, of up to four bytes. */
  frameBytes: 512 * 1024,
  /** Pieces of a message, as its sender and as the network cut it. */
  fragments: 64,
  chunks: 4096,
  /** At once, and from then on in a second. */
  burst: 60,
  perSecond: 20,
  /** Conversations that are followed. */
  watches: 16,
  /** Frames that are being worked on, answers under way among them. */
  atWork: 32,
  /** What waits for somebody who does not read: of what is stored, at most, and on all connections of an owner. */
  followedBytes: 256 * 1024,
  waitingBytes: 1024 * 1024,
  ownerBytes: 8 * 1024 * 1024,
  /** Connections of one agent. */
  perAgent: 50,
} as const;

const POLICY_VIOLATION = 1008;
const GOODBYE_MS = 2000;

/** Lets go of whoever takes nothing for so long while something waits; to be given to each `send`. */
export function createPatience(socket: WebSocket, stalledMs = STALLED_MS): () => () => void {
  let waiting = 0;
  let timer: NodeJS.Timeout | undefined;
  const written = (): void => {
    waiting -= 1;
    if (waiting > 0) return void timer?.refresh();
    clearTimeout(timer);
    timer = undefined;
  };
  return () => {
    waiting += 1;
    timer ??= setTimeout(() => socket.terminate(), stalledMs).unref();
    return written;
  };
}

/** The connections of each owner. */
export class Readers {
  readonly #sockets = new Map<string, Set<WebSocket>>();
  readonly #most: number;

  constructor(most: number = SOCKET_BOUNDS.ownerBytes) {
    this.#most = most;
  }

  add(owner: string, socket: WebSocket): void {
    const own = this.#sockets.get(owner) ?? new Set();
    this.#sockets.set(owner, own.add(socket));
    socket.once('close', () => {
      own.delete(socket);
      if (own.size === 0) this.#sockets.delete(owner);
    });
  }

  /** Lets go of the connections for which most waits, until what waits for all of an owner's is little enough. */
  bound(owner: string): void {
    const waiting = [...(this.#sockets.get(owner) ?? [])].filter(({ readyState, OPEN }) => readyState === OPEN);
    let bytes = waiting.reduce((sum, { bufferedAmount }) => sum + bufferedAmount, 0);
    if (bytes <= this.#most) return;
    for (const socket of waiting.toSorted((a, b) => b.bufferedAmount - a.bufferedAmount)) {
      if (bytes <= this.#most) return;
      bytes -= socket.bufferedAmount;
      socket.terminate();
    }
  }
}

/** Counts frames; false: it is one too many. */
export function createPace(now: () => number = Date.now): () => boolean {
  const { burst, perSecond } = SOCKET_BOUNDS;
  let left: number = burst;
  let last = now();
  return () => {
    const at = now();
    left = Math.min(burst, left + ((at - last) / 1000) * perSecond);
    last = at;
    left -= 1;
    return left >= 0;
  };
}

/** Tells the other side why and hears no more of it; who does not leave is cut off. */
export function turnAway(socket: WebSocket, why: string): void {
  for (const kind of ['message', 'ping', 'pong']) socket.removeAllListeners(kind);
  socket.close(POLICY_VIOLATION, why);
  // What is still on its way stays there.
  socket.pause();
  setTimeout(() => socket.terminate(), GOODBYE_MS).unref();
}
