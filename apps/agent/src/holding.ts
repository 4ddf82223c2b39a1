import { constants } from 'node:fs';
import { open, readFile, rename, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { newId, StartError, type Log } from '@troupe/kernel';

/**
 * Who may use an agent's data where several machines reach it: one program at a time, and the one that was started last.
 * An engine that is cut off goes on with its containers while another one was told to run them. So whoever comes says so
 * in one file, whoever is there reads that every second, hands over and goes; and who has been silent for long is dead.
 * Silence is measured by the reader's own clock: machines need not agree about the time.
 */
export interface Holding {
  close: () => Promise<void>;
}

export interface HoldingDeps {
  folder: string;
  log: Log;
  /** Another one waits for the data: hand over what is under way, then close this. */
  onClaimed: () => void;
  /** Another one may have the data already: nothing may be written any more. */
  onLost: () => void;
  /**
   * Where this program runs, as a UUID, if something there starts it again and again without being asked: a pod. Of two
   * places the newer has the data for good; a program that comes back in the older is refused. Within one, one runs at a time.
   */
  place?: string | undefined;
  times?: Partial<typeof TIMES>;
}

const TIMES = {
  beatMs: 1000,
  /** Whoever does not beat for so long is taken to be dead. */
  silentMs: 6000,
  /** Less than that: who could not beat for so long takes itself to be. */
  lostMs: 3000,
};

const CLAIM = '.claim';
const HOLDER = '.holder';
const PAST = '.past';
/** Places that are remembered: of all others none may still run. */
const MOST_PAST = 64;

/** Files in the folder that are not the agent's. */
export const isOfHolding = (name: string): boolean =>
  name === CLAIM || name.startsWith(HOLDER) || name.startsWith(PAST);

/**
 * Written where it is, and never longer or shorter: a network file system tells others of another content sooner than of
 * another file.
 */
async function overwrite(file: string, text: string): Promise<void> {
  await using handle = await open(file, constants.O_CREAT | constants.O_RDWR, 0o600);
  await put(handle, text);
}

async function put(handle: FileHandle, text: string): Promise<void> {
  await handle.write(text, 0);
  await handle.sync();
}

/** Undefined: there is none. */
const told = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((error: unknown) => {
    if ((error as { code?: string }).code === 'ENOENT') return undefined;
    throw error;
  });

const beatOf = (id: string, beat: number): string => `${id} ${String(beat).padStart(12, '0')}`;

const LATER = 'Another program was started on the same data after this one.';

/** Who said last that it has come; and which places have been followed by another. */
function createClaim(folder: string, place: string | undefined) {
  const id = place ?? newId();
  const claim = path.join(folder, CLAIM);
  const file = path.join(folder, PAST);
  const past = async (): Promise<string[]> => (await told(file))?.split('\n') ?? [];

  /** All or nothing: whoever reads it must not find less than there was. */
  async function follow(before: readonly string[], last: string): Promise<void> {
    const beside = `${file}.${id}`;
    {
      await using handle = await open(beside, 'w', 0o600);
      await put(handle, [...before.slice(1 - MOST_PAST), last].join('\n'));
    }
    await rename(beside, file);
  }

  return {
    id,
    /** Throws when another place has come after this one. */
    async say(): Promise<void> {
      // In this order: who wrote the claim had said before whom it follows.
      const last = await told(claim);
      if (place !== undefined) {
        const before = await past();
        if (before.includes(id)) throw new StartError(LATER);
        if (last !== undefined && last !== id && !before.includes(last)) await follow(before, last);
      }
      await overwrite(claim, id);
    },
    async isOurs(): Promise<boolean> {
      const last = await told(claim);
      if (last === id) return true;
      if (place === undefined || last === undefined) return false;
      const before = await past();
      if (before.includes(id) || !before.includes(last)) return false;
      // Somebody of a place of before was about to say so when we came.
      await overwrite(claim, id);
      return true;
    },
  };
}
type Claim = ReturnType<typeof createClaim>;

/** Answers when the data is ours; throws when yet another one comes meanwhile. */
export async function holdData(deps: HoldingDeps): Promise<Holding> {
  const { folder, log, place } = deps;
  const times = { ...TIMES, ...deps.times };
  const holder = path.join(folder, HOLDER);
  const claim = createClaim(folder, place);
  const { id } = claim;
  const isOfBefore = (found: string): boolean => place !== undefined && found.startsWith(`${id} `);

  await claim.say();
  let seen: string | undefined;
  let looked = performance.now();
  for (let silence = 0; ;) {
    if (!(await claim.isOurs())) throw new StartError(LATER);
    // All or nothing, also on a network file system: of two only one makes it.
    const handle = await open(holder, 'wx', 0o600).catch(unlessTaken);
    if (handle) {
      await put(handle, beatOf(id, 0));
      return beating({ ...deps, times, claim, holder, handle });
    }
    const found = await told(holder);
    const now = performance.now();
    // While this machine stood still, the other may have, too.
    silence = found === seen ? silence + Math.min(now - looked, times.beatMs) : 0;
    seen = found;
    looked = now;
    if (found !== undefined && (isOfBefore(found) || silence >= times.silentMs)) {
      log.warn({ folder }, 'who had the data counts as dead');
      await bury(holder);
    } else await delay(times.beatMs / 4);
  }
}

async function bury(holder: string): Promise<void> {
  const dead = `${holder}.dead`;
  await rename(holder, dead).catch(unlessGone);
  await rm(dead, { force: true });
}

const unlessTaken = (error: unknown): undefined => {
  if ((error as { code?: string }).code !== 'EEXIST') throw error;
};
const unlessGone = (error: unknown): void => {
  if ((error as { code?: string }).code !== 'ENOENT') throw error;
};

interface Beating extends HoldingDeps {
  times: typeof TIMES;
  claim: Claim;
  holder: string;
  handle: FileHandle;
}

function beating({ times, claim, holder, handle, log, onClaimed, onLost }: Beating): Holding {
  const { id } = claim;
  let beats = 0;
  let last = performance.now();
  let isClaimed = false;
  let under: Promise<void> | undefined;

  const silence = (): number => performance.now() - last;

  async function beat(): Promise<void> {
    const isOurs = await claim.isOurs();
    if (!isOurs && silence() >= times.lostMs) return onLost();
    await put(handle, beatOf(id, (beats += 1)));
    last = performance.now();
    // It goes on beating while it hands over: who waits must not take it for dead.
    if (isOurs || isClaimed) return;
    isClaimed = true;
    log.warn({}, 'another program was started on the same data: handing over');
    onClaimed();
  }

  const timer = setInterval(() => {
    if (under && silence() >= times.lostMs) onLost();
    under ??= beat()
      .catch((err: unknown) => {
        log.warn({ err }, 'the data cannot be reached');
        if (silence() >= times.lostMs) onLost();
      })
      .finally(() => (under = undefined));
  }, times.beatMs);

  return {
    async close() {
      clearInterval(timer);
      await under;
      await handle.close();
      const found = await told(holder);
      if (found?.startsWith(`${id} `)) await rm(holder, { force: true });
    },
  };
}
