import { dataDirOf, reachEmbedded, startEmbedded } from '@troupe/db';
import { silentLog, type Settings } from '@troupe/kernel';

interface Database {
  url: string;
  stop: () => Promise<void>;
}

async function opened(settings: Settings, open: typeof reachEmbedded): Promise<Database> {
  const { DATABASE_URL, DATABASE_DIRECT_URL: url = DATABASE_URL, DATA_DIR: dataDir } = settings;
  if (url !== undefined) return { url, stop: async () => {} };
  return open({ dataDir: dataDirOf(settings), explicit: dataDir !== undefined, log: silentLog });
}

/** The database of the settings, started for this when it is an embedded one that does not run. */
export const reachDatabase = (settings: Settings): Promise<Database> => opened(settings, reachEmbedded);

/** The same, made when there is none; refused while the platform runs on the embedded one. */
export const ownDatabase = (settings: Settings): Promise<Database> => opened(settings, startEmbedded);
