import type { FastifyRequest } from 'fastify';
import { sameSecret } from '../secrets.ts';
import type { Settings } from '../settings.ts';
import { bearerToken, isSigned } from './guards.ts';

interface RecognitionDeps {
  settings: Pick<Settings, 'BASE_URL'>;
  secrets: { internalKey: string | undefined; sessionSecret: string };
  url: string;
}

/** Who asks, where, and what the platform itself says of that. */
export function createRecognition({ settings, secrets, url }: RecognitionDeps, loopback: boolean) {
  const isInternal = (request: FastifyRequest) => {
    const key = bearerToken(request);
    return key !== null && secrets.internalKey !== undefined && sameSecret(key, secrets.internalKey);
  };
  const isOurs = (request: FastifyRequest) => isInternal(request) || isSigned(request, secrets.sessionSecret);
  const told = (request: FastifyRequest, ...names: string[]): string | undefined => {
    const values = names.map((name) => request.headers[name]);
    const value = values.find((given) => typeof given === 'string' && given !== '') as string | undefined;
    return value !== undefined && isOurs(request) ? value : undefined;
  };
  const origin = new URL(settings.BASE_URL ?? url).origin;
  const isFixed = settings.BASE_URL !== undefined || !loopback;
  const originFor = (request: FastifyRequest): string => (isFixed ? origin : seenOrigin(origin, request.headers.host));
  return { isInternal, isOurs, told, origin, originFor };
}

/** Under the loopback rule, and without BASE_URL, the platform is where the client found it: by one of our names. */
function seenOrigin(origin: string, host: string | undefined): string {
  if (host === undefined || !/^[\w.:[\]-]{1,300}$/.test(host)) return origin;
  return URL.parse(`${new URL(origin).protocol}//${host}`)?.origin ?? origin;
}
