import { readFileSync, readdirSync } from 'node:fs';

/** What the parts of this bench share: processes of web and backend, and what processes take. */

export const KEY = 'bench-internal-key-0123456789';
const TICKS = 100;

export const statOf = (pid: number): string[] => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
};
/** Seconds of a process; with those of its children that have ended. */
export function secondsOf(pid: number): number {
  const [user, system, endedUser, endedSystem] = statOf(pid).slice(11, 15).map(Number);
  return ((user ?? 0) + (system ?? 0) + (endedUser ?? 0) + (endedSystem ?? 0)) / TICKS;
}
export function secondsBelow(parent: number): number {
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return children.reduce((sum, name) => {
    try {
      return Number(statOf(Number(name))[1]) === parent ? sum + secondsOf(Number(name)) : sum;
    } catch {
      // it has ended since, and its parent counts it
      return sum;
    }
  }, secondsOf(parent));
}

export const SETTINGS = {
  NODE_ENV: 'production',
  INTERNAL_API_KEY: KEY,
  SESSION_SECRET: 'bench-session-secret-0123456789',
  WALLET_ENCRYPTION_KEY: 'bench-wallet-key-0123456789',
  OPENROUTER_API_KEY: 'bench',
};
export const main = (app: 'web' | 'backend'): URL => new URL(`../../apps/${app}/src/main.ts`, import.meta.url);
/** Limits count each caller by itself. */
export const from = (n: number) => ({ 'x-client-ip': `user-${n >> 2}` });

/** Agents of nobody but the platform: NAME-0, NAME-1, … */
export async function makeAgents(backend: string, name: string, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const made = await fetch(`${backend}/api/deployments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, ...from(n * 4), 'content-type': 'application/json' },
      body: JSON.stringify({ agentId: `${name}-${n}`, config: { name: `Agent ${n}`, plan: 'network' } }),
    });
    if (!made.ok) throw new Error(`no agent: ${made.status} ${await made.text()}`);
  }
}
