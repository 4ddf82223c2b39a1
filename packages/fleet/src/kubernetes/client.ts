import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { AppError, StartError } from '@troupe/kernel';
import { DriverError } from '../driver.ts';
import type { Access } from './access.ts';

/** As much of a cluster's API as a driver needs: objects by their path, and what becomes of them. */

export interface KubeObject {
  metadata: {
    name: string;
    uid?: string;
    generation?: number;
    resourceVersion?: string;
    deletionTimestamp?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
}

/** What is sent; the server knows better what it may be. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string>; annotations: Record<string, string> };
  spec?: object;
  data?: Record<string, string>;
}

export interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: KubeObject & { code?: number; message?: string };
}

/** The API server's own words about a request that it refused. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const AWAY_TEXT = 'The Kubernetes API server does not answer at the moment. Try again in a few seconds.';
export const clusterAway = (cause: unknown): AppError =>
  new AppError(503, AWAY_TEXT, {}, { cause, headers: { 'retry-after': '5' } });

const ANSWER_MS = 30_000;
const MOST_BYTES = 32 * 1024 * 1024;
const MOST_LINE_BYTES = 4 * 1024 * 1024;
/** The server ends a watch after so long; one that is silent for longer has lost its other end. */
const WATCH_SECONDS = 60;
const SILENCE_MS = (WATCH_SECONDS + 15) * 1000;
/** The server cannot at this moment, whatever it was asked. */
const NOT_NOW: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);
const OWNER = 'troupe';

/** Sends requests, and reads answers that are one object. */
function createSending(access: Access) {
  const isTls = access.server.protocol === 'https:';
  const sockets = isTls
    ? new https.Agent({ keepAlive: true, maxSockets: 32, ...access.tls })
    : new http.Agent({ keepAlive: true, maxSockets: 32 });
  const at = (path: string): URL => new URL(access.server.pathname.replace(/\/$/, '') + path, access.server);

  async function send(
    method: string,
    path: string,
    { body, type = 'application/json', silenceMs = ANSWER_MS, signal }: Sending = {},
  ): Promise<IncomingMessage> {
    const token = await access.token();
    const sent = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const request = (isTls ? https : http).request(at(path), {
        method,
        agent: sockets,
        timeout: silenceMs,
        ...(signal && { signal }),
        headers: {
          accept: 'application/json',
          ...(token && { authorization: `Bearer ${token}` }),
          ...(sent !== undefined && { 'content-type': type, 'content-length': Buffer.byteLength(sent) }),
        },
      });
      request.once('timeout', () => request.destroy(new Error('The API server was silent for too long')));
      // For good: it may break after its answer has begun.
      request.on('error', reject);
      request.once('response', resolve);
      request.end(sent);
    });
  }

  async function json(method: string, path: string, sending?: Sending): Promise<unknown> {
    const response = await send(method, path, sending);
    const body = await textOf(response);
    if ((response.statusCode ?? 0) >= 300) throw refused(response, body);
    return JSON.parse(body);
  }

  return { send, json, close: () => sockets.destroy() };
}
type Sender = ReturnType<typeof createSending>;

/** Objects by their path, in the driver's words. */
const createObjects = ({ json }: Sender) => ({
  /** Undefined: it is not there. */
  get: <T extends KubeObject>(path: string): Promise<T | undefined> =>
    ask(ifThere(json('GET', path))) as Promise<T | undefined>,
  create: (path: string, body: Manifest): Promise<KubeObject> =>
    ask(json('POST', path, { body })) as Promise<KubeObject>,
  /** Makes it, or makes it what is said; fields that others have set and we do not name stay. */
  apply: (path: string, body: Manifest): Promise<KubeObject> => {
    const at = `${path}/${body.metadata.name}?fieldManager=${OWNER}&force=true`;
    return ask(json('PATCH', at, { body, type: 'application/apply-patch+yaml' })) as Promise<KubeObject>;
  },
  /** Nothing happens where there is none. */
  patch: async (path: string, body: object): Promise<void> => {
    const sending = { body, type: 'application/merge-patch+json' };
    await ask(ifThere(json('PATCH', `${path}?fieldManager=${OWNER}`, sending)));
  },
  /** `uid`: only that one, not another of the same name. */
  remove: async (path: string, { uid, grace }: { uid?: string | undefined; grace?: number } = {}): Promise<void> => {
    const body = {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      ...(uid !== undefined && { preconditions: { uid } }),
      ...(grace !== undefined && { gracePeriodSeconds: grace }),
    };
    await ask(ifThere(json('DELETE', path, { body })));
  },
});

/** All of a kind, and what becomes of them. What goes wrong is thrown as it comes: whoever follows tries again. */
const createFollowing = ({ json, send }: Sender) => ({
  /** Page by page, with the version from which to follow. */
  async list(path: string, query: string): Promise<{ items: KubeObject[]; version: string }> {
    const items: KubeObject[] = [];
    for (let next = ''; ;) {
      const asked = `${path}?limit=500&${query}${next && `&continue=${encodeURIComponent(next)}`}`;
      const page = (await json('GET', asked)) as {
        items: KubeObject[];
        metadata: { resourceVersion: string; continue?: string };
      };
      items.push(...page.items);
      next = page.metadata.continue ?? '';
      if (next === '') return { items, version: page.metadata.resourceVersion };
    }
  },
  /** From that version on, until the server ends it. Throws ApiError 410 when that is forgotten. */
  async *watch(path: string, query: string, version: string, signal: AbortSignal): AsyncGenerator<WatchEvent | 'open'> {
    const asked = `${path}?watch=1&allowWatchBookmarks=true&timeoutSeconds=${WATCH_SECONDS}&${query}`;
    const response = await send('GET', `${asked}&resourceVersion=${version}`, { silenceMs: SILENCE_MS, signal });
    if ((response.statusCode ?? 0) >= 300) throw refused(response, await textOf(response));
    yield 'open';
    for await (const line of linesOf(response)) {
      const event = JSON.parse(line) as WatchEvent;
      if (event.type === 'ERROR') throw new ApiError(event.object.code ?? 500, event.object.message ?? 'unknown');
      yield event;
    }
  },
});

export function createClient(access: Access) {
  const sender = createSending(access);
  return {
    ...createObjects(sender),
    ...createFollowing(sender),
    /** Throws a StartError when nobody will ever let us in. An API server that is away is none: it may come back. */
    async tryIt(path: string): Promise<void> {
      try {
        await sender.json('GET', `${path}?limit=1`);
      } catch (cause) {
        const why = refusalOf(cause);
        if (why === undefined) return;
        const { host } = access.server;
        throw new StartError(`The Kubernetes API server ${host} lets nobody in with this access: ${why}.`, { cause });
      }
    },
    close: sender.close,
  };
}
export type Client = ReturnType<typeof createClient>;

interface Sending {
  body?: object;
  type?: string;
  silenceMs?: number;
  signal?: AbortSignal;
}

/** Neither a wrong token nor a certificate of somebody else mends itself. */
function refusalOf(error: unknown): string | undefined {
  if (error instanceof ApiError) return error.status === 401 || error.status === 403 ? error.message : undefined;
  const { code = '', message } = error as { code?: string; message: string };
  return /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/.test(code) ? message : undefined;
}

/** What the cluster says, as a sentence. */
async function ask<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ApiError)) throw clusterAway(error);
    if (NOT_NOW.has(error.status)) throw clusterAway(error);
    throw new DriverError(`The cluster refused: ${error.message}`, error);
  }
}

/** It is not there, or another has taken its name. */
const ifThere = (work: Promise<unknown>): Promise<unknown> =>
  work.catch((error: unknown) => {
    if (error instanceof ApiError && (error.status === 404 || error.status === 409)) return undefined;
    throw error;
  });

async function textOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MOST_BYTES) throw new Error(`The API server answered more than ${MOST_BYTES / 1024 / 1024} MB`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

const refused = ({ statusCode = 0 }: IncomingMessage, body: string): ApiError =>
  new ApiError(statusCode, messageIn(body) ?? `answered ${statusCode}`);

function messageIn(body: string): string | undefined {
  try {
    const { message } = JSON.parse(body) as { message?: unknown };
    return typeof message === 'string' ? message : undefined;
  } catch {
    // A proxy before the server says it in another way.
    return undefined;
  }
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  let open: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = piece.indexOf(0x0a); end !== -1; end = piece.indexOf(0x0a, from)) {
      yield Buffer.concat([...open, piece.subarray(from, end)]).toString('utf8');
      open = [];
      bytes = 0;
      from = end + 1;
    }
    if (from === piece.length) continue;
    open.push(piece.subarray(from));
    bytes += piece.length - from;
    if (bytes > MOST_LINE_BYTES) throw new Error('A line of the watch does not end');
  }
}
