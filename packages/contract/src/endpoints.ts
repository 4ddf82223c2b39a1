import * as backend from './backend.ts';
import type { Endpoint } from './endpoint.ts';
import * as gateway from './gateway.ts';
import * as summarizer from './platform/summarizer.ts';
import * as web from './web.ts';

const isEndpoint = (value: unknown): value is Endpoint =>
  typeof value === 'object' && value !== null && 'service' in value && 'method' in value && 'path' in value;

/** Every endpoint of the contract, for what has to know all of them: the reference, the published client, tests. */
export const allEndpoints = (): Endpoint[] =>
  [summarizer, ...[web, backend, gateway].flatMap((service) => Object.values<object>(service))]
    .flatMap((slice) => Object.values(slice) as unknown[])
    .filter(isEndpoint);
