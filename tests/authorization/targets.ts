import { GATEWAY_ROUTES } from '@troupe/agent';
import { allEndpoints, urlOf, type Auth, type Endpoint, type Service } from '@troupe/contract';
import type { Server } from '@troupe/kernel';
import { z } from 'zod';
import type { Example } from './example.ts';
import { exampleOf, EXAMPLES } from './examples.ts';
import type { OwnerIds } from './world.ts';

/** Everything that can be asked for: the endpoints of the contract, and what the servers answer beside them. */
export interface Target {
  /** `web GET /api/keys`; what `open.ts` names it by. */
  name: string;
  service: Service;
  method: string;
  /** `gateway`: the agent's own, which asks for its token. */
  auth: Auth | 'gateway' | 'metrics';
  url: string;
  body?: unknown;
  headers: Record<string, string>;
  /** Whether it names something of the owner's. */
  namesOwner: boolean;
  /** Statuses from 500 on that the contract names. */
  failures: readonly number[];
}

const GATEWAY = '/api/runtime/proxy/:agentId';

const nameOf = ({ service, method, path }: Pick<Endpoint, 'service' | 'method' | 'path'>): string =>
  `${service} ${method} ${path}`;

/** Fields by which a request names somebody's thing. */
const REFERENCE = /^(id|ids|address)$|Id$|Address$/;
/** What is named so and is nobody's. */
const NO_REFERENCE = new Set(['channelUserId', 'verifierAddress', 'messageId']);

function fieldsOf(schema: z.ZodType | undefined): string[] {
  if (!schema) return [];
  const described = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as {
    properties?: object;
    anyOf?: { properties?: object }[];
  };
  return [described, ...(described.anyOf ?? [])].flatMap(({ properties }) => Object.keys(properties ?? {}));
}

const needsExample = (one: Endpoint): boolean =>
  one.path.includes(':') || one.body !== undefined || fieldsOf(one.query).some((field) => REFERENCE.test(field));

/** What is wrong with the examples: a sentence each. */
export function exampleGaps(ids: OwnerIds): string[] {
  const endpoints = allEndpoints();
  const known = new Set(endpoints.map(nameOf));
  const stale = Object.entries(EXAMPLES)
    .flatMap(([service, of]) => Object.keys(of).map((route) => `${service} ${route}`))
    .filter((name) => !known.has(name))
    .map(
      (name) => `${name} has an example in tests/authorization/examples.ts and is no endpoint (any more): remove it`,
    );
  return [...stale, ...endpoints.flatMap((one) => gapsOf(one, ids))];
}

function gapsOf(one: Endpoint, ids: OwnerIds): string[] {
  const make = exampleOf(one);
  if (!make)
    return needsExample(one)
      ? [`${nameOf(one)} needs an example in tests/authorization/examples.ts: a request about the owner's things`]
      : [];
  const examples = [make(ids)].flat();
  const said = (part: 'params' | 'query' | 'body'): Set<string> =>
    new Set(examples.flatMap((example) => Object.keys((example[part] as object | undefined) ?? {})));
  const unsaid = (['query', 'body'] as const).flatMap((part) =>
    fieldsOf(one[part]).filter((field) => REFERENCE.test(field) && !NO_REFERENCE.has(field) && !said(part).has(field)),
  );
  const invalid = examples.flatMap((example) =>
    one.body === undefined || one.body.safeParse(example.body ?? {}).success ? [] : [JSON.stringify(example.body)],
  );
  return [
    ...unsaid.map((field) => `the example of ${nameOf(one)} has to name the owner's ${field}`),
    ...invalid.map((body) => `the example of ${nameOf(one)} is no valid body: ${body}`),
  ];
}

const leavesOf = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [value];

function targetOf(one: Endpoint, { params, query, body, headers = {} }: Example, namesOwner: boolean): Target {
  const json = body === undefined && one.body === undefined ? undefined : (body ?? {});
  return {
    name: nameOf(one),
    service: one.service,
    method: one.method,
    auth: one.path.startsWith(`${GATEWAY}/`) ? 'gateway' : one.auth,
    url: urlOf(one, { params, query }),
    body: one.rawBody ? '' : json,
    headers,
    namesOwner,
    failures: [one, ...(one.passesOn?.() ?? [])]
      .flatMap(({ errors }) => Object.keys(errors ?? {}).map(Number))
      .filter((status) => status >= 500),
  };
}

function contractTargets(ids: OwnerIds): Target[] {
  const values = new Set<unknown>(Object.values(ids));
  return allEndpoints().flatMap((one) => {
    const made = exampleOf(one)?.(ids) ?? {};
    return [made].flat().map((example) =>
      targetOf(
        one,
        example,
        leavesOf(example).some((leaf) => values.has(leaf)),
      ),
    );
  });
}

const plain = (service: Service, path: string, auth: Target['auth'] = 'none'): Target => ({
  name: `${service} GET ${path}`,
  service,
  method: 'GET',
  auth,
  url: path,
  headers: {},
  namesOwner: false,
  failures: [],
});

/** The agent's own paths: by the address of the proxy, and by its host name. */
function gatewayTargets(ids: OwnerIds, domain: string): Target[] {
  const { agentId, conversationId, approvalId, mcpServer } = ids;
  const fill: Record<string, string> = {
    sessions: conversationId,
    approvals: approvalId,
    background: `task-${conversationId}`,
    memory: 'm',
    'mcp-servers': mcpServer,
  };
  const paths = GATEWAY_ROUTES.map(({ method, path }) => ({
    method,
    path: path.replace(/\/([\w-]+)\/:id/, (_, what: string) => `/${what}/${fill[what] ?? 'x'}`),
    auth: 'gateway' as const,
  }));
  const open = ['/health', '/ready', '/.well-known/agent-card.json'].map((path) => ({
    method: 'GET',
    path,
    auth: 'none' as const,
  }));
  const other = [
    { method: 'GET', path: '/', auth: 'gateway' as const },
    { method: 'GET', path: '/nothing', auth: 'gateway' as const },
  ];
  return [...paths, ...open, ...other].flatMap(({ method, path, auth }): Target[] => {
    const shared = {
      service: 'backend' as const,
      method,
      auth,
      namesOwner: true,
      failures: [],
      ...(method === 'GET' || method === 'DELETE' ? {} : { body: {} }),
    };
    return [
      { ...shared, name: `gateway ${method} ${path}`, url: `/api/runtime/proxy/${agentId}${path}`, headers: {} },
      { ...shared, name: `gateway ${method} ${path}`, url: path, headers: { host: `${agentId}.${domain}` } },
    ];
  });
}

/** What the servers answer beside the endpoints of the contract. */
const BESIDE: readonly Target[] = [
  ...(['web', 'backend', 'summarizer'] as const).flatMap((service) => [
    plain(service, '/metrics', 'metrics'),
    plain(service, '/api/openapi.json'),
    plain(service, '/ready'),
  ]),
  plain('web', '/docs'),
  plain('web', '/health'),
];

/** Things of the owner's, asked for in an agent of somebody else's: who may enter the one must not reach the other through it. */
export function mixedTargets(ids: OwnerIds, agentId: string, domain: string): Target[] {
  const inside = [ids.approvalId, ids.backupId, ids.conversationId, ids.paymentId];
  const names = ({ url, body }: Target, id: string): boolean => JSON.stringify([url, body]).includes(id);
  return allTargets({ ...ids, agentId }, domain).filter((target) => inside.some((id) => names(target, id)));
}

/** The same without a body in the answer: it must say no more. */
export const headsOf = (targets: readonly Target[]): Target[] =>
  targets.filter(({ method }) => method === 'GET').map((target) => ({ ...target, method: 'HEAD' }));

export const allTargets = (ids: OwnerIds, domain: string): Target[] => [
  ...contractTargets(ids),
  ...BESIDE,
  ...gatewayTargets(ids, domain),
];

/** Routes of a server that are neither endpoints of the contract nor named here. */
export function forgottenRoutes(server: Server): string[] {
  const known = new Set([
    ...allEndpoints().map(nameOf),
    ...BESIDE.map(({ name }) => name),
    // The gateway behind them has its own list of routes.
    ...['', '/*'].flatMap((rest) => ANY.map((method) => `backend ${method} ${GATEWAY}${rest}`)),
    // Pages and files of the dashboard, which are the same for everybody.
    'web GET /*',
  ]);
  return routesOf(server)
    .filter(
      ([method, path]) => method !== 'HEAD' && !/\.(svg|png|js|css|ico|webmanifest|txt|html|woff2?|map)$/.test(path),
    )
    .map(([method, path]) => `${server.service} ${method} ${path}`)
    .filter((name) => !known.has(name));
}

const ANY = ['GET', 'TRACE', 'DELETE', 'OPTIONS', 'PATCH', 'PUT', 'POST', 'QUERY'];

/** Reads the tree that the router prints: each line is a piece of path below the one that it is indented under. */
function routesOf({ app }: Server): [method: string, path: string][] {
  const parents: string[] = [];
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const found = /^([\s│]*)[├└]── (\S*)(?: \(([A-Z, ]+)\))?$/.exec(line);
      if (!found) return [];
      const [, indent = '', piece = '', methods = ''] = found;
      const depth = indent.length / 4;
      parents[depth] = (parents[depth - 1] ?? '') + piece;
      const path = parents[depth]!.replace(/([^/]|^)\*$/, '$1/*');
      return methods === '' ? [] : methods.split(', ').map((method): [string, string] => [method, path]);
    });
}
