import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { askContainer } from './container-fetch.ts';
import { DriverError } from './driver.ts';
import { pack } from './pack.ts';

/**
 * Data goes in and out through a container beside the agent's, where only a container reaches a volume: the agents' own
 * program, told by a token to give the folder out.
 */
export interface DataDoor {
  /** Into a file; its database is of one moment, however much the agent writes. */
  copy: (file: string, maxBytes?: number) => Promise<void>;
  /** Makes it what the file holds. */
  replace: (file: string) => Promise<void>;
}

const POLL_MS = 200;
const PING_MS = 3000;
/** A copy that takes longer has stopped moving. */
const COPY_MS = 3_600_000;

/** What the program is told to be such a door. */
export const doorEnv = (token: string, dataDir: string, port: number): Record<string, string> => ({
  DATA_TOKEN: token,
  DATA_DIR: dataDir,
  HOST: '0.0.0.0',
  PORT: String(port),
});

interface Opening {
  ms: number;
  token: string;
  /** Where it listens, and why it never will; undefined: it is not there yet. */
  look: () => Promise<{ address: string | undefined; problem?: string | undefined } | undefined>;
  /** What is said when it does not open. */
  closed: string;
}

/** Waits until the door answers. */
export async function openDoor({ ms, token, look, closed }: Opening): Promise<DataDoor> {
  for (const deadline = Date.now() + ms; ; await delay(POLL_MS)) {
    const { address, problem } = (await look()) ?? { address: undefined };
    if (address !== undefined && (await answers(address))) return doorAt(address, token);
    if (problem !== undefined || Date.now() > deadline) throw new DriverError(problem ?? closed);
  }
}

async function answers(address: string): Promise<boolean> {
  const answer = await askContainer(address, '/health', { ms: PING_MS }).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.ok === true;
}

function doorAt(address: string, token: string): DataDoor {
  const headers = { authorization: `Bearer ${token}` };
  async function ask(init: RequestInit): Promise<Response> {
    const response = await askContainer(address, '/data', { ...init, headers, ms: COPY_MS });
    if (!response.ok) throw new DriverError(`The agent’s data could not be copied: ${response.status}`);
    return response;
  }
  return {
    async copy(file, maxBytes) {
      const { body } = await ask({ method: 'GET' });
      await pack(Readable.fromWeb(body as import('node:stream/web').ReadableStream), file, maxBytes);
    },
    async replace(file) {
      const body = Readable.toWeb(createReadStream(file)) as ReadableStream;
      await ask({ method: 'PUT', body, duplex: 'half' } as RequestInit);
    },
  };
}
