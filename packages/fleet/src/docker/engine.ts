import type Docker from 'dockerode';

/** An engine that says nothing for so long is taken to be away. */
const SILENCE_MS = 60_000;
const LOCAL_SOCKET = '/var/run/docker.sock';

/** The engine that a setting names: a socket's path, `unix://…` or `tcp://…`; the local one unless said. */
export async function dockerEngine(host: string | undefined): Promise<Docker> {
  // Loaded only where it is used: most installations have no engine.
  const { default: Engine } = await import('dockerode');
  const given = host || LOCAL_SOCKET;
  if (given.startsWith('/')) return new Engine({ socketPath: given, timeout: SILENCE_MS });
  const url = new URL(given);
  if (url.protocol === 'unix:') return new Engine({ socketPath: url.pathname, timeout: SILENCE_MS });
  return new Engine({
    timeout: SILENCE_MS,
    host: url.hostname,
    port: url.port || 2375,
    protocol: url.protocol === 'https:' ? 'https' : 'http',
  });
}
