import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Binaries } from './binaries.ts';
import { worksIn } from './leftover.ts';
import { processMark } from './lock.ts';
import { reachable } from './address.ts';

/** A server's first process, whoever started it. */
export interface Postmaster {
  pid: number;
  /** Settles when it has ended, with what is known of why. */
  ended: Promise<object>;
  kill: (signal: NodeJS.Signals) => void;
}

const LOOK_MS = 200;

/**
 * The server that a killed platform left running on this folder, if it is the one that we would start: same program,
 * same settings, and it answers. `argsFor` gives the arguments that it has with its sockets in that folder.
 */
export async function adopt(
  folder: string,
  binaries: Binaries,
  argsFor: (sockets: string) => string[],
): Promise<{ postmaster: Postmaster; sockets: string } | undefined> {
  const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8').catch(() => '');
  const [number, , , port, sockets] = (await read('postmaster.pid')).split('\n');
  const pid = Number(number);
  if (!pid || !port || !sockets || !(await worksIn(pid, folder))) return undefined;
  const [program = '', ...args] = (await read('postmaster.opts')).trim().split(' "');
  const same =
    args.join('\n') ===
    argsFor(sockets)
      .map((arg) => `${arg}"`)
      .join('\n');
  const real = (file: string): Promise<string> => realpath(file).catch(() => file);
  if (!same || (await real(program)) !== (await real(binaries.postgres))) return undefined;
  if (!(await reachable(port, sockets))) return undefined;
  const mark = await processMark(pid);
  return mark === undefined ? undefined : { postmaster: strange(pid, mark), sockets };
}

/** No child of ours: nobody tells us when it ends. */
function strange(pid: number, mark: string): Postmaster {
  const ended = (async () => {
    while ((await processMark(pid)) === mark) await delay(LOOK_MS, undefined, { ref: false });
    return { adopted: true };
  })();
  return {
    pid,
    ended,
    kill: (signal) => {
      try {
        process.kill(pid, signal);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    },
  };
}
