import { memoryCounters } from '../counters.ts';
import { silentLog } from '../log.ts';
import { testSettings, type Env } from '../settings.ts';
import { systemClock } from '../time.ts';
import { createServer, type Server, type ServerOptions } from './server.ts';

export const TEST_SECRETS = { internalKey: 'internal-test-key', sessionSecret: 'session-test-secret' };

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
