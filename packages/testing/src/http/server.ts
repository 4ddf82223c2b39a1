import {
  createServer,
  memoryCounters,
  readSettings,
  silentLog,
  systemClock,
  type Env,
  type Server,
  type ServerOptions,
  type Settings,
} from '@troupe/kernel';

export const TEST_SECRETS = { internalKey: 'internal-test-key', sessionSecret: 'session-test-secret' };

/** Defaults, nothing from the environment. */
export const testSettings = (given: Env = {}): Settings =>
  readSettings({ NODE_ENV: 'test', LOG_LEVEL: 'silent', ...given });

/** A server as tests want it: silent, counting in memory, with known secrets. Answer requests with `server.app.inject`. */
export function testServer(options: Partial<ServerOptions> & { env?: Env } = {}): Server {
  const { env, ...rest } = options;
  return createServer({
    service: 'web',
    settings: testSettings(env),
    log: silentLog,
    counters: memoryCounters(systemClock),
    secrets: TEST_SECRETS,
    url: 'http://127.0.0.1:3000',
    ...rest,
  });
}
