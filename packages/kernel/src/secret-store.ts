import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from './errors.ts';
import { randomHex } from './ids.ts';
import type { Settings } from './settings.ts';

/** What must be secret and the same in every process of one platform. */
export interface Secrets {
  internalKey: string;
  sessionSecret: string;
  federatedSecret: string;
  walletKey: string;
}

const NAMES = ['INTERNAL_API_KEY', 'SESSION_SECRET', 'WALLET_ENCRYPTION_KEY'] as const;
type Name = (typeof NAMES)[number];

const FILE = 'secrets.json';
const BYTES = 32;

/** The given secrets; outside production, missing ones are generated once and kept in the data folder. */
export function loadSecrets(settings: Settings, dataDir: string): Secrets {
  const missing = NAMES.filter((name) => settings[name] === undefined);
  if (missing.length > 0 && settings.NODE_ENV === 'production')
    throw new StartError(
      `${missing.join(', ')} must be set in production (for example to the output of: openssl rand -hex 32).`,
    );
  const kept = missing.length > 0 ? keep(dataDir, missing) : {};
  const value = (name: Name): string => settings[name] ?? kept[name] ?? '';
  return {
    internalKey: value('INTERNAL_API_KEY'),
    sessionSecret: value('SESSION_SECRET'),
    federatedSecret: settings.FEDERATED_SESSION_SECRET ?? value('SESSION_SECRET'),
    walletKey: value('WALLET_ENCRYPTION_KEY'),
  };
}

type Kept = Partial<Record<Name, string>>;

function keep(dataDir: string, missing: readonly Name[]): Kept {
  const path = join(dataDir, FILE);
  const kept = read(path);
  const made = missing.filter((name) => kept[name] === undefined);
  if (made.length === 0) return kept;
  const all = { ...kept, ...Object.fromEntries(made.map((name) => [name, randomHex(BYTES)])) };
  write(dataDir, path, `${JSON.stringify(all, null, 2)}\n`);
  return all;
}

function write(dataDir: string, path: string, text: string): void {
  try {
    mkdirSync(dataDir, { recursive: true });
    // Written beside and moved over: a crash leaves the old file or the new one, never half of one.
    writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true });
    renameSync(`${path}.new`, path);
  } catch (cause) {
    if ((cause as { code?: string }).code === 'ENOSPC') throw cause;
    throw new StartError(
      `The data folder ${dataDir} cannot be written (${(cause as Error).message}): set another DATA_DIR.`,
      { cause },
    );
  }
}

function read(path: string): Kept {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as { code?: string }).code ?? '')) return {};
    throw error;
  }
  try {
    return JSON.parse(text) as Kept;
  } catch (error) {
    throw new StartError(
      `${path} is damaged: restore it from a backup. Without it, stored wallet keys and tokens cannot be read.`,
      { cause: error },
    );
  }
}
