import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import path from 'node:path';
import { hasCluster } from '../kubernetes/cluster.ts';
import { canSwarm } from '../swarm/can-swarm.ts';
import { closedNetwork } from './closed-network.ts';

/** Asks the engine itself: its command line tool need not be here. */
const PING_DOCKER = `
  const url = new URL(process.env.DOCKER_HOST || 'unix:///var/run/docker.sock');
  const where = url.protocol === 'unix:' ? { socketPath: url.pathname } : { host: url.hostname, port: url.port };
  require('node:http')
    .get({ ...where, path: '/_ping', timeout: 5000 }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1))
    .on('error', () => process.exit(1));`;

const JUDGES = path.resolve(import.meta.dirname, '../../../../tests/judges/node_modules/.bin');

/** What some tests need and not every machine has. Each says how to find out whether it is here. */
const CLUSTER = 'a Kubernetes cluster (tests/kubernetes/build.sh, as root)';

const PROBES = {
  chromium: () => chromium() !== undefined,
  bubblewrap: () => works('bwrap', ['--ro-bind', '/', '/', 'true']),
  'network namespaces': () => works(...closedNetwork('true'), { HOSTS: '/etc/hosts' }),
  pgbouncer: () => works('pgbouncer', ['--version']),
  nginx: () => works('nginx', ['-v']),
  'a clock of its own': () => clockLibrary() !== undefined,
  'redis-server': () => works('redis-server', ['--version']),
  docker: () => works(process.execPath, ['-e', PING_DOCKER]),
  'an own container engine': () => process.getuid?.() === 0 && works('dockerd', ['--version']),
  'two container engines with overlay networks (as root)': canSwarm,
  [CLUSTER]: () => process.env['TROUPE_WITHOUT_CLUSTER'] !== '1' && hasCluster(),
  promtool: () => works('promtool', ['--version']),
  shellcheck: () => works('shellcheck', ['--version']),
  'the judges': () => existsSync(path.join(JUDGES, 'codex')),
  'the MCP judges': () => existsSync(path.join(JUDGES, 'conformance')),
  'an external PostgreSQL': () => process.env['TEST_EXTERNAL_DATABASE_URL'] !== undefined,
} satisfies Record<string, () => boolean>;

export type Need = keyof typeof PROBES;

const works = (command: string, args: readonly string[], env: Record<string, string> = {}): boolean =>
  spawnSync(command, args, { stdio: 'ignore', timeout: 10_000, env: { ...process.env, ...env } }).status === 0;

/** The browser's path, if there is one. */
const chromium = (): string | undefined =>
  [process.env['CHROMIUM_PATH'], 'chromium', 'chromium-browser', 'google-chrome']
    .filter((name) => name !== undefined)
    .find((name) => works(name, ['--version']));

/** A library that lets one process have a clock of its own. */
export const clockLibrary = (): string | undefined => globSync('/usr/lib/{*/,}faketime/libfaketime.so.1')[0];

const LIST = 'TROUPE_TEST_LACKS';

/** What is not here, found out once and handed to the tests in the environment that this returns. */
export function lookAround(): { lacks: Need[]; env: Record<string, string> } {
  const lacks = (Object.keys(PROBES) as Need[]).filter((need) => !PROBES[need]());
  return { lacks, env: { [LIST]: lacks.join('\n') } };
}

/** Whether a test that needs this fails where it is not. */
export const isRequired = (need: Need): boolean =>
  process.env['TROUPE_REQUIRE_ALL'] === '1' && !(need === CLUSTER && process.env['TROUPE_WITHOUT_CLUSTER'] === '1');

/** For a test's `skip`: false when all is here. With TROUPE_REQUIRE_ALL nothing is skipped, so what lacks fails. */
export function needs(...wanted: Need[]): string | false {
  const told = process.env[LIST]?.split('\n');
  const lacks = wanted.filter(
    (need) => !isRequired(need) && (told === undefined ? !PROBES[need]() : told.includes(need)),
  );
  return lacks.length > 0 && `needs ${lacks.join(' and ')}`;
}
