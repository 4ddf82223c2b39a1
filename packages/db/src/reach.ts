import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from '@troupe/kernel';
import { reachable, urlOf } from './address.ts';
import { startEmbedded, type EmbeddedOptions } from './embedded.ts';
import { placeData } from './place.ts';

/** The embedded database of a data folder, for programs beside the platform: the running one, else one started for this. */
export async function reachEmbedded(options: EmbeddedOptions): Promise<{ url: string; stop: () => Promise<void> }> {
  const { folder } = await placeData(options.dataDir, options.explicit ?? true);
  if (!(await stat(join(folder, 'PG_VERSION')).catch(() => null)))
    throw new StartError(`There is no database in ${options.dataDir}: set DATA_DIR or DATABASE_URL.`);
  const url = await runningAt(folder);
  return url === null ? startEmbedded(options) : { url, stop: async () => {} };
}

/** The server's own file says where its socket is: pid, data, start, port, socket. */
async function runningAt(folder: string): Promise<string | null> {
  const text = await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '');
  const [, , , port, sockets] = text.split('\n');
  return port && sockets && (await reachable(port, sockets)) ? urlOf(port, sockets) : null;
}
