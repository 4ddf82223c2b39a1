import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';

const START = path.resolve(import.meta.dirname, '../../../../scripts/start.mjs');

/** What the platform keeps to itself: no agent may ever see one of these. */
export const SECRETS = {
  INTERNAL_API_KEY: 'test-internal-key-0123456789',
  SESSION_SECRET: 'test-session-secret-0123456789',
  WALLET_ENCRYPTION_KEY: 'test-wallet-key-0123456789',
  OPENROUTER_API_KEY: 'test-provider-key-0123456789',
};

// oxlint-disable-next-line typescript/no-explicit-any -- each test says what it reads of an answer
type Any = any;

export interface BackendProcess {
  address: string;
  child: ChildProcess;
  /** With the internal key; each call for another end user, because limits have their own tests. */
  send: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Response>;
  ask: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Any>;
  /** Says something to an agent in a conversation of its own. */
  chat: (agentId: string, content: string, session: string, more?: object) => Promise<Response>;
  /** The only session of that name, with its events. */
  log: (agentId: string, session: string) => Promise<{ id: string; status: string; events: Any[] } | undefined>;
  end: (signal: NodeJS.Signals) => Promise<{ code: number | null; signal: string | null; ms: number }>;
}

let callers = 0;

/** The backend in a process of its own, in the production profile. */
export async function startBackendProcess(env: Record<string, string>): Promise<BackendProcess> {
  const child = spawn(process.execPath, [START, 'backend'], {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      NODE_ENV: 'production',
      BACKEND_PORT: '0',
      ...SECRETS,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const address = await listening(child);

  const send: BackendProcess['send'] = (method, where, body, headers = {}) =>
    fetch(address + where, {
      method,
      headers: {
        authorization: `Bearer ${SECRETS.INTERNAL_API_KEY}`,
        'x-client-ip': `caller-${(callers += 1)}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const ask: BackendProcess['ask'] = async (...args) => (await send(...args)).json();
  const proxy = (agentId: string, where: string) => `/api/runtime/proxy/${agentId}${where}`;

  return {
    address,
    child,
    send,
    ask,
    chat: (agentId, content, session, more = {}) =>
      send('POST', proxy(agentId, '/v1/chat/completions'), {
        messages: [{ role: 'user', content }],
        user: session,
        ...more,
      }),
    async log(agentId, session) {
      const { sessions } = await ask('GET', proxy(agentId, '/sessions'));
      const found = sessions.find(({ key }: { key: string }) => key === session);
      if (!found) return undefined;
      const { events } = await ask('GET', proxy(agentId, `/sessions/${found.id}`));
      return { id: found.id, status: found.status, events };
    },
    async end(signal) {
      const started = Date.now();
      child.kill(signal);
      const [code, by] = (await once(child, 'exit')) as [number | null, string | null];
      return { code, signal: by, ms: Date.now() - started };
    },
  };
}

async function listening(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const { address } = JSON.parse(line) as { address?: string };
    if (address === undefined) continue;
    child.stdout!.resume();
    return address;
  }
  throw new Error('the backend did not start');
}
