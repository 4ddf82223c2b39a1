import { setTimeout as delay } from 'node:timers/promises';
import {
  amazonEncoded,
  amazonSigned,
  createOutbound,
  OutboundError,
  StartError,
  type AmazonAccount,
  type Outbound,
  type Settings,
} from '@troupe/kernel';

/** Where large pieces of files are when they are not in the database. */
export interface Objects {
  put: (name: string, bytes: Uint8Array) => Promise<void>;
  get: (name: string) => Promise<Uint8Array>;
  /** One that is not there is removed already. */
  remove: (name: string) => Promise<void>;
  close: () => Promise<void>;
}

export interface S3Options extends Omit<AmazonAccount, 'service' | 'sessionToken'> {
  /** The server; objects are below its bucket. */
  endpoint: string;
  bucket: string;
  prefix: string;
  outbound?: Outbound;
  now?: () => Date;
  retryMs?: number;
}

const TRIES = 4;
const RETRY_MS = 200;
const TIMEOUT_MS = 60_000;
const MAX_BYTES = 8 * 1024 * 1024;

type S3Settings = Pick<
  Settings,
  'BLOB_STORE' | 'S3_ENDPOINT' | 'S3_REGION' | 'S3_ACCESS_KEY_ID' | 'S3_SECRET_ACCESS_KEY'
>;

/** As BLOB_STORE says; undefined: no object store. */
export function objectsFrom(settings: S3Settings): Objects | undefined {
  const { BLOB_STORE: place = '', S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = settings;
  const found = /^s3:\/\/([^/]+)\/?(.*)$/.exec(place);
  if (!found) return undefined;
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new StartError('BLOB_STORE is an object store: S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set.');
  const region = settings.S3_REGION;
  const endpoint = settings.S3_ENDPOINT ?? `https://s3.${region}.amazonaws.com`;
  const [, bucket = '', prefix = ''] = found;
  return createS3({ endpoint, region, bucket, prefix, accessKeyId, secretAccessKey });
}

/** It does not take what it is asked for. */
export class ObjectsRefuse extends Error {
  override readonly name = 'ObjectsRefuse';
  readonly status: number;

  constructor(status: number, code: string | undefined) {
    super(`the object store answered ${status}${code === undefined ? '' : ` (${code})`}`);
    this.status = status;
  }
}

/** Throttled, or broken for a moment. */
const isPassing = (status: number): boolean => status >= 500 || status === 429 || status === 408;

export function createS3(options: S3Options): Objects {
  const { endpoint, bucket, prefix, now = () => new Date(), retryMs = RETRY_MS } = options;
  // The operator has configured it: it may be anywhere.
  const outbound = options.outbound ?? createOutbound({ allowLoopback: true, allowPrivate: true, keepAlive: true });

  const urlOf = (name: string): URL =>
    new URL(`${endpoint}/${[bucket, ...prefix.split('/'), name].filter(Boolean).map(amazonEncoded).join('/')}`);

  async function once(method: 'GET' | 'PUT' | 'DELETE', name: string, body?: Uint8Array) {
    const url = urlOf(name);
    const headers = amazonSigned({ method, url, at: now(), ...(body && { body }) }, { ...options, service: 's3' });
    const request = { method, headers, timeout: TIMEOUT_MS, maxBytes: MAX_BYTES, redirects: 0 };
    const answer = await outbound.fetch(url, { ...request, ...(body && { body }) });
    return { status: answer.status, bytes: await answer.bytes() };
  }

  /** Every call may be made again: an object is written once and says the same each time. */
  async function ask(method: 'GET' | 'PUT' | 'DELETE', name: string, body?: Uint8Array): Promise<Uint8Array> {
    for (let tried = 1; ; tried += 1) {
      const answer = await once(method, name, body).catch((error: unknown) => {
        if (!(error instanceof OutboundError) || tried === TRIES) throw error;
        return undefined;
      });
      if (answer && answer.status < 300) return answer.bytes;
      if (answer?.status === 404 && method === 'DELETE') return answer.bytes;
      if (answer && (!isPassing(answer.status) || tried === TRIES)) {
        const code = /<Code>([^<]{1,100})<\/Code>/.exec(Buffer.from(answer.bytes).toString())?.[1];
        throw new ObjectsRefuse(answer.status, code);
      }
      await delay(retryMs * 2 ** tried * (0.5 + Math.random()));
    }
  }

  return {
    put: async (name, bytes) => void (await ask('PUT', name, bytes)),
    get: (name) => ask('GET', name),
    remove: async (name) => void (await ask('DELETE', name)),
    close: () => outbound.close(),
  };
}
