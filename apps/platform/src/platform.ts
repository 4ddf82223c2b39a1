import { writeFile } from 'node:fs/promises';
import { ensureOwner, type Owner } from '@troupe/accounts';
import { createBackend } from '@troupe/backend';
import { dataDirOf, isNewCluster, migrate, openRuntime, startEmbedded } from '@troupe/db';
import { createLog, loadSecrets, localUrl, silentLog, VERSION, type Life, type Settings } from '@troupe/kernel';
import { createSummarizer } from '@troupe/summarizer';
import { createWeb } from '@troupe/web';

export interface Addresses {
  web: string;
  backend: string;
  summarizer: string;
  dataDir: string;
  /** Only when this start created the account: the one time that the password is known. */
  owner: Owner | null;
}

export interface PlatformOptions {
  settings: Settings;
  life: Life;
  /** Shows a step that takes a while. */
  step: <T>(title: string, work: () => Promise<T>) => Promise<T>;
  /** Somebody starts us again when we die, and stops the database whose folder this file names when all is over. */
  watched?: string;
}

/** The embedded profile: all services in this process, on a database of their own unless DATABASE_URL names one. */
export async function startPlatform(options: PlatformOptions): Promise<Addresses> {
  const { settings, life } = options;
  // first, so that a missing or damaged secret is told before anything is made
  loadSecrets(settings, dataDirOf(settings));
  const databaseUrl = settings.DATABASE_URL ?? (await startDatabase(options));
  const runtime = life.own(await openRuntime(settings, 'platform', { databaseUrl, onLost: life.fail }));
  const backendUrl = settings.BACKEND_URL ?? localUrl(settings, settings.BACKEND_PORT);
  const webUrl = settings.BASE_URL ?? localUrl(settings, settings.WEB_PORT);
  const summarizerUrl = settings.SUMMARIZER_URL ?? localUrl(settings, settings.SUMMARIZER_PORT);
  const deps = { ...runtime, version: VERSION };
  const log = (service: string) => createLog({ level: settings.LOG_LEVEL, service });

  const backend = life.own(await createBackend({ ...deps, log: log('backend'), url: backendUrl }));
  const web = life.own(await createWeb({ ...deps, log: log('web'), url: webUrl, backendUrl }));
  const summarizer = life.own(createSummarizer({ ...deps, log: log('summarizer'), url: summarizerUrl }));
  await runtime.jobs.start();
  await summarizer.listen(settings.SUMMARIZER_PORT, 'SUMMARIZER_PORT');
  await backend.server.listen(settings.BACKEND_PORT, 'BACKEND_PORT');
  await web.server.listen(settings.WEB_PORT, 'WEB_PORT');
  // last, because its password is told once: nothing that could still fail may come between
  const owner = await ensureOwner({ db: runtime.db, accounts: web.accounts, settings });
  return { web: webUrl, backend: backendUrl, summarizer: summarizerUrl, dataDir: runtime.dataDir, owner };
}

async function startDatabase({ settings, life, step, watched }: PlatformOptions): Promise<string> {
  const dataDir = dataDirOf(settings);
  const log = createLog({ level: settings.LOG_LEVEL, service: 'database' });
  const start = async () => {
    const explicit = settings.DATA_DIR !== undefined;
    const outlives = watched !== undefined;
    const server = await startEmbedded({ dataDir, explicit, log, outlives, onLost: life.fail });
    life.own({ close: () => (outlives && life.comesBack() ? server.leave() : server.stop()) });
    if (watched !== undefined) await writeFile(watched, `${server.folder}\n`);
    // the step's line says enough of the migrations
    await migrate({ url: server.url, log: silentLog, alone: true });
    return server.url;
  };
  return (await isNewCluster(dataDir)) ? step('Setting up the database', start) : start();
}
