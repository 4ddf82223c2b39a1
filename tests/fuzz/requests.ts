import { allEndpoints, type Endpoint, type Service } from '@troupe/contract';
import { z } from 'zod';
import { chance, type Chance } from './random.ts';
import { jsonFor, nastyText, type Known, type Schema } from './values.ts';

/** Requests for every endpoint of the contract, each made from the seed and its number alone. */

export interface FuzzRequest {
  number: number;
  service: Service;
  endpoint: Endpoint;
  method: string;
  path: string;
  headers: Record<string, string | string[]>;
  body?: string | Buffer;
  /** How it shows who it is. */
  as: Credentials;
}

const CREDENTIALS = ['nobody', 'user', 'key', 'internal', 'admin', 'wrong'] as const;
type Credentials = (typeof CREDENTIALS)[number];

interface Prepared {
  endpoint: Endpoint;
  params: Schema;
  query: Schema;
  body: Schema | undefined;
}

function endpoints(): Endpoint[] {
  const found = new Map(allEndpoints().map((one) => [`${one.service} ${one.method} ${one.path}`, one]));
  // Whoever is asked as would be nobody from then on; it has tests of its own.
  found.delete('web POST /api/account/close');
  return [...found].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, endpoint]) => endpoint);
}

const schemaOf = (schema: z.ZodType | undefined): Schema | undefined =>
  schema && (z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema);

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'];
const TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  'application/merge-patch+json',
  'application/JSON',
  'application/xml',
  '',
  'json',
];
const BROKEN = [
  '{',
  '{"a":',
  '[1,',
  '"',
  '\uFEFF{}',
  '{}{}',
  "{'a':1}",
  '{"a":1,}',
  'undefined',
  '',
  ' ',
  '\u0000',
  'a=b',
];
const PARAMS = [
  '..',
  '.',
  '%2e%2e',
  '%2E',
  '%00',
  '%ff',
  '%',
  '%zz',
  'a%2Fb',
  '%20',
  '-1',
  'undefined',
  'ünï',
  "a'b",
  '*',
];
const QUERIES = [
  '?',
  '?&&&',
  '?a[b]=1',
  '?limit=1&limit=2',
  '?limit=-1',
  '?limit=1e9',
  '?a=%',
  '?a=%00',
  '?%ff=%fe',
  '?__proto__=1',
];

export function createRequests(seed: number): (number: number, known: Known) => FuzzRequest {
  const all = endpoints().map((endpoint): Prepared => ({
    endpoint,
    params: schemaOf(endpoint.params) ?? {},
    query: schemaOf(endpoint.query) ?? {},
    body: schemaOf(endpoint.body),
  }));
  return (number, known) => {
    const random = chance(seed, number);
    const { endpoint, params, query, body } = random.pick(all);
    const given = bodyFor(endpoint, body, random, known);
    const method = random.percent(2) ? random.pick(METHODS) : endpoint.method;
    // Another method at the same address may be another endpoint, which names its own errors.
    const asked = all.find((one) => isAt(one.endpoint, endpoint, answeredAs(method)))?.endpoint ?? endpoint;
    const path = pathFor(endpoint.path, params, random, known) + queryFor(query, random, known);
    return {
      number,
      service: endpoint.service,
      endpoint: asked,
      method,
      // What is no HTTP is answered without a look at the method, and a client expects no body after HEAD.
      path: method === 'HEAD' ? path.replace(/[^\x21-\x7e]/g, encodeURIComponent) : path,
      headers: { ...headersFor(random), ...given.headers },
      ...(given.body !== undefined && { body: given.body }),
      as: credentialsFor(endpoint, random),
    };
  };
}

/** HEAD is a GET whose answer has no body. */
export const answeredAs = (method: string): string => (method === 'HEAD' ? 'GET' : method);

const isAt = ({ service, path, method }: Endpoint, beside: Endpoint, wanted: string): boolean =>
  service === beside.service && path === beside.path && method === wanted;

/** Mostly those that open the endpoint: behind the guard is where the code is. */
function credentialsFor({ service, auth }: Endpoint, random: Chance): Credentials {
  if (random.percent(20)) return random.pick(CREDENTIALS);
  if (auth === 'admin') return 'admin';
  if (service !== 'web') return random.pick(['internal', 'internal', 'key']);
  return random.pick(['user', 'user', 'admin']);
}

function pathFor(path: string, params: Schema, random: Chance, known: Known): string {
  return path.replace(/:([A-Za-z]+)/g, (_, name: string) => {
    if (random.percent(12)) return random.pick(PARAMS);
    if (random.percent(2)) return 'x'.repeat(1 + random.whole(3000));
    if (random.percent(3)) return '';
    const schema = params.properties?.[name] ?? { type: 'string' };
    const text = jsonFor(schema, name, random, known);
    const value = text.startsWith('"') ? (JSON.parse(text) as string) : text;
    return encodeURIComponent(value.slice(0, 1000).toWellFormed());
  });
}

function queryFor(query: Schema, random: Chance, known: Known): string {
  if (random.percent(8)) return random.pick(QUERIES);
  const search = Object.entries(query.properties ?? {})
    .filter(() => random.percent(50))
    .map(([name, schema]) => {
      const text = jsonFor(schema, name, random, known).slice(0, 1000);
      const value = /^"[^\\]*"$/.test(text) ? text.slice(1, -1) : text;
      return `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`;
    });
  return search.length > 0 ? `?${search.join('&')}` : '';
}

function bodyFor(endpoint: Endpoint, schema: Schema | undefined, random: Chance, known: Known) {
  const json = { 'content-type': 'application/json' };
  if (endpoint.method === 'GET' && !random.percent(3)) return { headers: {} };
  if (random.percent(3)) return { headers: json, body: random.pick(BROKEN) };
  if (random.percent(2))
    return { headers: json, body: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x80, 0x22, 0x3a, 0x31, 0x7d]) };
  if (random.percent(1)) return { headers: json, body: `{"a":"${'x'.repeat(1_048_570 + random.whole(200_000))}"}` };
  const body = schema ? jsonFor(schema, '', random, known) : random.pick(['{}', '', nastyText(random)]);
  if (random.percent(4)) return { headers: { 'content-type': random.pick(TYPES) }, body };
  return { headers: json, body };
}

const ODD_HEADERS: readonly ((random: Chance) => Record<string, string | string[]>)[] = [
  (random) => ({
    'x-user-id': random.pick(['', 'x'.repeat(5000), '../..', 'utf-8:%', 'utf-8:%E7%94%A8', 'anonymous']),
  }),
  () => ({ 'x-user-id': ['a', 'b'], 'x-user-email': ['a@b.c', 'd@e.f'] }),
  () => ({ 'x-user-plan': 'emperor', 'x-user-role': 'admin', 'x-user-signature': '1.1.1' }),
  () => ({ 'x-client-ip': ['1.2.3.4', '5.6.7.8'] }),
  (random) => ({
    'x-client-ip': random.pick(['::1', '2001:db8::1', '::ffff:1.2.3.4', 'not an address', 'x'.repeat(2000)]),
  }),
  (random) => ({ 'x-forwarded-for': random.pick([',,,', '1.1.1.1, 2.2.2.2', 'é', '999.999.999.999']) }),
  (random) => ({ 'idempotency-key': random.pick(['', 'a', 'x'.repeat(3000), 'é']) }),
  (random) => ({
    cookie: random.pick(['svc-session=%00', 'svc-session=%', 'a=b; a=c; svc-session', '=;=;', 'x'.repeat(3000)]),
  }),
  (random) => ({
    authorization: random.pick(['Bearer', 'Bearer ', 'Basic eDp4', 'Bearer sk_', 'bearer x', 'Payment x']),
  }),
  (random) => ({ 'x-payment': random.pick(['x', 'e30=', Buffer.from('{"a":'.repeat(900)).toString('base64')]) }),
  (random) => ({ 'payment-voucher': random.pick(['x', 'e30', Buffer.from('[]').toString('base64url')]) }),
  () => ({ host: 'evil.example' }),
  () => ({ accept: 'text/event-stream', 'last-event-id': '99999999999999999999' }),
  () => ({ origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' }),
  () => ({ 'content-encoding': 'gzip' }),
  () => ({ range: 'bytes=0-1,5-2', 'if-none-match': '*' }),
  () => ({ expect: 'something' }),
  () => ({ 'x-request-id': 'x'.repeat(500) }),
  () => ({ 'x-agent-id': 'x'.repeat(500), 'x-run-id': '\u00e9' }),
];

const headersFor = (random: Chance): Record<string, string | string[]> =>
  random.percent(12) ? random.pick(ODD_HEADERS)(random) : {};
