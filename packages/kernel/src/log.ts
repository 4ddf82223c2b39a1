import { pino } from 'pino';

export interface Log {
  debug: (fields: object, message?: string) => void;
  info: (fields: object, message?: string) => void;
  warn: (fields: object, message?: string) => void;
  error: (fields: object, message?: string) => void;
  child: (fields: object) => Log;
}

const SECRET_NAMES = [
  'password',
  'newPassword',
  'currentPassword',
  'token',
  'apiKey',
  'api_key',
  'key',
  'secret',
  'signature',
  'authorization',
  'cookie',
  'privateKey',
  'gatewayToken',
  'channelTokenA',
  'channelTokenB',
  'channelTokenC',
  'refreshToken',
  'sessionToken',
];

/** Values under these names never reach the log, at the top or two levels down. */
const REDACT = SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`, `*["set-${name}"]`]);

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface LogOptions {
  level: LogLevel;
  service: string;
  /** Where lines go; standard output unless said. */
  destination?: { write: (line: string) => void };
}

export function createLog({ level, service, destination }: LogOptions): Log {
  const options = {
    level,
    base: { service },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: REDACT, censor: '[redacted]' },
    serializers: { err: errorFields },
  };
  return destination ? pino(options, destination) : pino(options);
}

export const silentLog: Log = createLog({ level: 'silent', service: 'test' });

function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return {
    name: error.name,
    message: error.message,
    stack: error.stack,
    ...('code' in error ? { code: error.code } : {}),
    ...(error.cause === undefined ? {} : { cause: errorFields(error.cause) }),
  };
}
