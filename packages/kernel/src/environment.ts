import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type { Env, Settings } from './settings.ts';

const FILE = new URL('../../../.env', import.meta.url);

/** The environment, with what the project's `.env` says where a variable is not set. */
export function withEnvFile(env: Env, file: URL | string = FILE): Env {
  try {
    return { ...parseEnv(readFileSync(file, 'utf8')), ...env };
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return env;
    throw error;
  }
}

/** How this machine reaches a service of its own that listens on HOST. */
export function localUrl({ HOST }: Pick<Settings, 'HOST'>, port: number): string {
  const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[HOST] ?? HOST;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
