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
  /** What waits for somebody who does not read: of what is stored, at most, on all connections of an owner, and of all. */
  followedBytes: 64 * 1024,
  waitingBytes: 1024 * 1024,
  ownerBytes: 8 * 1024 * 1024,
  processBytes: 48 * 1024 * 1024,
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

/** The connections of one owner, and what waited for all of them when it was last counted. */
interface Own {
  sockets: Set<WebSocket>;
  bytes: number;
}

/** The connections of each owner. */
export class Readers {
  readonly #owners = new Map<string, Own>();
  readonly #mostOfOwner: number;
  readonly #most: number;
  /** For all of them, as last counted. */
  #bytes = 0;

  constructor(mostOfOwner: number = SOCKET_BOUNDS.ownerBytes, most: number = SOCKET_BOUNDS.processBytes) {
    this.#mostOfOwner = mostOfOwner;
    this.#most = most;
  }

  add(owner: string, socket: WebSocket): void {
    const own = this.#owners.get(owner) ?? { sockets: new Set(), bytes: 0 };
    this.#owners.set(owner, own);
    own.sockets.add(socket);
    socket.once('close', () => {
      own.sockets.delete(socket);
      this.#count(own);
      if (own.sockets.size === 0) this.#owners.delete(owner);
    });
  }

  /**
   * Lets go of the connections for which most waits, until what waits for all of an owner's is little enough; and of those of
   * the owners for whom most waits, until what waits for everybody is.
   */
  bound(owner: string): void {
    const own = this.#owners.get(owner);
    if (!own) return;
    this.#count(own);
    this.#keep(own, this.#mostOfOwner);
    if (this.#bytes <= this.#most) return;
    // Others may have read meanwhile.
    const all = [...this.#owners.values()];
    for (const one of all) this.#count(one);
    for (const one of all.toSorted((a, b) => b.bytes - a.bytes)) {
      if (this.#bytes <= this.#most) return;
      this.#keep(one, Math.max(0, one.bytes - (this.#bytes - this.#most)));
    }
  }

  #count(own: Own): void {
    const bytes = openOf(own).reduce((sum, { bufferedAmount }) => sum + bufferedAmount, 0);
    this.#bytes += bytes - own.bytes;
    own.bytes = bytes;
  }

  #keep(own: Own, most: number): void {
    if (own.bytes <= most) return;
    for (const socket of openOf(own).toSorted((a, b) => b.bufferedAmount - a.bufferedAmount)) {
      if (own.bytes <= most) return;
      own.bytes -= socket.bufferedAmount;
      this.#bytes -= socket.bufferedAmount;
      socket.terminate();
    }
  }
}

const openOf = ({ sockets }: Own): WebSocket[] => [...sockets].filter(({ readyState, OPEN }) => readyState === OPEN);

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
