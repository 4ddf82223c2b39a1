import { allEndpoints, type Endpoint } from '@troupe/contract';

/** What a proxy leads to the backend below the platform's own address: of /v1 all that clients of others know. */

const written = ({ path }: Endpoint): string => path.replaceAll(/:\w+/g, 'x');
const below = (isPublic: boolean): string[] => [
  ...new Set(
    allEndpoints()
      .filter(({ service, path }) => service === 'backend' && path.startsWith('/v1/'))
      // Errors in the shape of another's protocol: it is there for clients of that protocol.
      .filter(({ errorShape }) => (errorShape !== undefined) === isPublic)
      .map(written),
  ),
];

export const publicPaths = (): string[] => below(true);
/** Of /v1 what agents alone ask for, and what is not there. */
export const closedPaths = (): string[] => [...below(false), '/v1', '/v1/chat', '/v1/agentsx', '/api/v1/gateway'];
