import { testDatabase } from '@troupe/testing/database/server';
import { startService, type Service } from '../lib/child.ts';
import { load, type LoadOptions } from '../lib/load.ts';

/** What the parts share. BENCH_SECONDS: length of one side's part of a round; BENCH_WARM_UP: the most that a warm-up takes. */

export const MILLISECONDS = Number(process.env['BENCH_SECONDS'] ?? 2) * 1000;
export const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7);
export const WARM_UP_MS = Number(process.env['BENCH_WARM_UP'] ?? 30) * 1000;
export const WARM_UP_CALLS = 200_000;
const KEY = 'bench-internal-key-0123456789';

export const CALLER = {
  authorization: `Bearer ${KEY}`,
  'x-user-id': 'bench-user',
  'x-user-plan': 'solo',
  'x-agent-id': 'bench',
};

export const CHAT = {
  model: 'openai/gpt-4o-mini',
  messages: [
    { role: 'system', content: 'You are a helpful assistant.' },
    { role: 'user', content: 'Say something short about the sea, and then something shorter.' },
  ],
  temperature: 0.7,
  max_tokens: 200,
};

export const startUpstream = (): Promise<Service> => startService(new URL('upstream.ts', import.meta.url), {});

export type Backend = Service;

/** The backend as it runs, in front of that provider, on a database of its own. */
export async function startBackend(upstream: Service, env: Record<string, string> = {}): Promise<Backend> {
  const database = await testDatabase();
  const service = await startService(new URL('../../apps/backend/src/main.ts', import.meta.url), {
    NODE_ENV: 'production',
    BACKEND_PORT: '0',
    DATABASE_URL: database.url,
    INTERNAL_API_KEY: KEY,
    SESSION_SECRET: 'bench-session-secret-0123456789',
    WALLET_ENCRYPTION_KEY: 'bench-wallet-key-0123456789',
    OPENROUTER_API_KEY: 'bench',
    OPENROUTER_BASE_URL: `${upstream.address}/v1`,
    ...env,
  });
  return {
    ...service,
    async stop() {
      await service.stop();
      await database.drop();
    },
  };
}

/** A provider, the least that a gateway can do in front of it, and ours. */
export async function startOurs() {
  const upstream = await startUpstream();
  const passThrough = await startService(new URL('pass-through.ts', import.meta.url), { UPSTREAM: upstream.address });
  const ours = await startBackend(upstream);
  return {
    upstream,
    passThrough,
    ours,
    async stop() {
      await ours.stop();
      await passThrough.stop();
      await upstream.stop();
    },
  };
}

/**
 * Calls a second of each side, in turns over 64 connections, forwards and backwards; the first round is for the compiler.
 */
export async function inTurns<Name extends string>(
  sides: Record<Name, Pick<LoadOptions, 'url' | 'headers' | 'body'>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(sides) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const length = round === 0 ? { milliseconds: WARM_UP_MS, calls: WARM_UP_CALLS } : { milliseconds: MILLISECONDS };
      const { perSecond, errors } = await load({ ...sides[name], connections: 64, ...length });
      if (errors > 0) throw new Error(`${errors} calls of ${name} failed`);
      if (round > 0) results[name].push(perSecond);
    }
  }
  return results;
}

type Measured = Pick<LoadOptions, 'url' | 'headers' | 'body'> & { service: Service };

/** Milliseconds of processor time that a service takes for a call: what else the machine does changes little of it. */
async function cpuOf({ service, ...side }: Measured): Promise<number> {
  const before = service.cpu();
  const { calls } = await load({ ...side, connections: 64, milliseconds: MILLISECONDS });
  return ((service.cpu() - before) / calls) * 1000;
}

/** The same of each side, in turns. */
export async function cpuInTurns<Name extends string>(sides: Record<Name, Measured>): Promise<Record<Name, number[]>> {
  const names = Object.keys(sides) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round < ROUNDS; round += 1)
    for (const name of names) results[name].push(await cpuOf(sides[name]));
  return results;
}
