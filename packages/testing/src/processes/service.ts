import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';

const START = path.resolve(import.meta.dirname, '../../../../scripts/start.mjs');

export interface ServiceProcess {
  /** Where it listens. */
  address: string;
  pid: number;
  /** Settles when it has ended. */
  exit: Promise<[code: number | null, signal: NodeJS.Signals | null]>;
  kill: (signal: NodeJS.Signals) => ServiceProcess['exit'];
}

/**
 * One service as a process of its own in the production profile, on a free port, with these settings and no others.
 * `program`: of another checkout.
 */
export async function startService(
  app: 'web' | 'backend',
  env: Record<string, string>,
  program: readonly string[] = [START, app],
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, program, {
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      [app === 'web' ? 'WEB_PORT' : 'BACKEND_PORT']: '0',
      INTERNAL_API_KEY: SERVICE_KEY,
      SESSION_SECRET: 'faults-session-secret-0123456789',
      WALLET_ENCRYPTION_KEY: SERVICE_WALLET_KEY,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit: ServiceProcess['exit'] = new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve([code, signal]));
  });
  const kill = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return exit;
  };
  for await (const line of createInterface({ input: child.stdout })) {
    const { address } = JSON.parse(line) as { address?: string };
    if (!address) continue;
    child.stdout.resume();
    return { address, pid: child.pid!, exit, kill };
  }
  throw new Error(`${app} did not start`);
}

/** The internal key of every service that is started so. */
export const SERVICE_KEY = 'faults-internal-key-0123456789';
/** What seals what they store. */
export const SERVICE_WALLET_KEY = 'faults-wallet-key-0123456789';
