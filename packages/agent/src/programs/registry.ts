import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createFairQueue, defineTask, OutboundError, type Outbound, type WorkerPool } from '@troupe/kernel';
import type { Manifest, run } from './packument.task.ts';
import type { Find } from './resolve.ts';

/** A registry of npm packages: descriptions and archives, through the guarded client, never more than we can bear. */

const READ = defineTask<typeof run>(new URL('./packument.task.ts', import.meta.url), 5_000);

const MB = 1024 * 1024;
const DESCRIPTION_BYTES = 24 * MB;
/** Of all that one program makes us read. */
const DESCRIPTIONS_BYTES = 192 * MB;
const ARCHIVE_BYTES = 64 * MB;
const ASK_MS = 30_000;
const DOWNLOAD_MS = 60_000;
const AT_ONCE = { width: 8, waiting: 10_000, waitingPerKey: 10_000 };
/** What installs need, and no more. */
const SHORT = 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*';

export interface RegistryDeps {
  url: string;
  outbound: Outbound;
  pool: WorkerPool;
}

class RegistryError extends Error {
  override readonly name = 'RegistryError';
}

/** What the other side does wrong, in words. */
function away(error: unknown): never {
  if (!(error instanceof OutboundError)) throw error;
  throw new RegistryError(`the registry of packages cannot be used: ${error.message}`, { cause: error });
}

export function createRegistry({ url, outbound, pool }: RegistryDeps) {
  const base = url.replace(/\/+$/, '');

  async function describe(name: string, signal: AbortSignal): Promise<string | undefined> {
    const answer = await outbound
      .fetch(`${base}/${name.replace('/', '%2f')}`, {
        headers: { accept: SHORT },
        timeout: ASK_MS,
        maxBytes: DESCRIPTION_BYTES,
        signal,
      })
      .catch(away);
    if (answer.status === 200) return answer.text().catch(away);
    answer.cancel();
    if (answer.status === 404) return undefined;
    throw new RegistryError(`the registry of packages answered ${answer.status} for ${name}`);
  }

  /** For one program: each description is fetched once. */
  function find(owner: string, signal: AbortSignal): Find {
    const known = new Map<string, Promise<string | undefined>>();
    const queue = createFairQueue(AT_ONCE);
    let bytes = 0;
    const text = (name: string): Promise<string | undefined> => {
      const asked = known.get(name) ?? queue.run(name, () => describe(name, signal), signal);
      known.set(name, asked);
      return asked;
    };
    return async (name, range): Promise<Manifest | undefined> => {
      const isNew = !known.has(name);
      const found = await text(name);
      if (found === undefined) return undefined;
      if (isNew) bytes += found.length;
      if (bytes > DESCRIPTIONS_BYTES) throw new Error('the program needs more packages than can be looked at');
      const { platform, arch } = process;
      return pool.run(READ, { text: found, name, range, platform, arch }, { key: owner, lane: 'programs', signal });
    };
  }

  async function download(tarball: string, file: string, signal: AbortSignal): Promise<void> {
    const options = { timeout: DOWNLOAD_MS, maxBytes: ARCHIVE_BYTES, signal };
    const answer = await outbound.fetch(tarball, options).catch(away);
    if (answer.status !== 200) {
      answer.cancel();
      throw new RegistryError(`the registry of packages answered ${answer.status} for ${new URL(tarball).pathname}`);
    }
    await pipeline(Readable.from(answer.body), createWriteStream(file, { flags: 'wx', mode: 0o600 })).catch(away);
  }

  return { find, download };
}
