import type { LiveTopic, StageActor, StageChange } from '@troupe/contract';
import { createFairQueue, sha256Hex, type Log } from '@troupe/kernel';

/** The stages that somebody looks at. Each is read once for all of its readers, who are told what has changed. */
export interface Stages {
  /** Resolves when all that changes from now on is told. Call the result when the reader is gone. */
  join: (userId: string, tell: (change: StageChange) => void) => Promise<() => void>;
  changed: (userId: string, topic: LiveTopic) => void;
}

interface Shown {
  agents: StageActor[];
  more: boolean;
  todayUsd: number;
}

interface Room {
  readers: Set<(change: StageChange) => void>;
  /** What each agent was told as: of many agents only a digest is kept. */
  told: Map<string, string>;
  todayUsd: number;
  entered: Promise<void>;
  rest: NodeJS.Timeout | undefined;
  isReading: boolean;
  again: boolean;
}

/** What shows on a stage. */
const ON_STAGE: ReadonlySet<LiveTopic> = new Set(['agents', 'inbox', 'tasks', 'usage', 'work']);
/** An agent at work changes something several times a second. */
const EVERY_MS = 1000;
/** A stage may have a thousand agents: those of all users together leave the database to others. */
const READ = { width: 4, perKey: 1, waiting: 1000, waitingPerKey: 1 };

const newRoom = (): Room => ({
  readers: new Set(),
  told: new Map(),
  todayUsd: 0,
  entered: Promise.resolve(),
  rest: undefined,
  isReading: false,
  again: false,
});

/** What is another than it was told, and what is told from now on. */
function changeOf(room: Room, { agents, more, todayUsd }: Shown): StageChange | undefined {
  const now = new Map(agents.map((actor) => [actor.id, sha256Hex(JSON.stringify(actor))]));
  const changed = agents.filter(({ id }) => room.told.get(id) !== now.get(id));
  const gone = [...room.told.keys()].filter((id) => !now.has(id));
  const isSame = changed.length === 0 && gone.length === 0 && todayUsd === room.todayUsd;
  room.told = now;
  room.todayUsd = todayUsd;
  return isSame ? undefined : { agents: changed, gone, more, todayUsd };
}

export function createStages({ read, log }: { read: (userId: string) => Promise<Shown>; log: Log }): Stages {
  const rooms = new Map<string, Room>();
  const reading = createFairQueue(READ);
  const readInTurn = (userId: string): Promise<Shown> => reading.run(userId, () => read(userId));

  async function look(userId: string, room: Room): Promise<void> {
    if (room.isReading || room.rest) {
      room.again = true;
      return;
    }
    room.isReading = true;
    room.again = false;
    try {
      const change = changeOf(room, await readInTurn(userId));
      if (change) for (const tell of room.readers) tell(change);
    } catch (error) {
      log.warn({ err: error }, 'a stage could not be read; it is tried again');
      room.again = true;
    }
    room.isReading = false;
    if (room.readers.size === 0) return;
    room.rest = setTimeout(() => {
      room.rest = undefined;
      if (room.again) void look(userId, room);
    }, EVERY_MS).unref();
  }

  function open(userId: string): Room {
    const room = newRoom();
    // Without a first look everything counts as changed, the next time.
    const enter = async (): Promise<void> => {
      changeOf(room, await readInTurn(userId));
    };
    room.entered = enter().catch((error: unknown) => log.warn({ err: error }, 'a stage could not be read'));
    rooms.set(userId, room);
    return room;
  }

  return {
    async join(userId, tell) {
      const room = rooms.get(userId) ?? open(userId);
      room.readers.add(tell);
      await room.entered;
      return () => {
        room.readers.delete(tell);
        if (room.readers.size > 0) return;
        clearTimeout(room.rest);
        rooms.delete(userId);
      };
    },
    changed(userId, topic) {
      const room = rooms.get(userId);
      if (room && ON_STAGE.has(topic)) void room.entered.then(() => look(userId, room));
    },
  };
}
