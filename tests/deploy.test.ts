import assert from 'node:assert/strict';
import { globSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { allEndpoints } from '@troupe/contract';
import { settingDocs } from '@troupe/kernel';
import { parse } from 'yaml';
import { closedPaths, publicPaths } from './lib/public-paths.ts';

/** What deploy/ says in other languages than ours, held against what the code says. */

const folder = path.resolve(import.meta.dirname, '../deploy');
const text = (file: string): string => readFileSync(path.join(folder, file), 'utf8');
const settings = new Map(settingDocs().map((setting) => [setting.name, setting]));

interface Service {
  image: string;
  build?: { context: string; dockerfile: string; args: Record<string, string> };
  env_file?: string;
  environment?: Record<string, string>;
  volumes?: string[];
  healthcheck?: object;
  depends_on?: Record<string, { condition: string }>;
  mem_limit?: string;
  restart?: string;
}
const compose = parse(text('compose.yaml')) as { services: Record<string, Service>; volumes: Record<string, unknown> };
const { platform, postgres, redis } = compose.services;

/** What compose, the database's image and the C library read themselves. */
const NOT_SETTINGS = new Set(['POSTGRES_PASSWORD', 'BASE', 'MALLOC_ARENA_MAX', 'MALLOC_TRIM_THRESHOLD_']);

test('compose: every service is bounded, watched and started again', () => {
  assert.ok(platform && postgres && redis);
  for (const [name, service] of Object.entries(compose.services)) {
    assert.match(service.mem_limit ?? '', /^\d+[mg]$/, name);
    assert.equal(service.restart, 'unless-stopped', name);
    assert.ok(service.healthcheck ?? /^HEALTHCHECK /m.test(text('Dockerfile')), name);
  }
  assert.deepEqual(platform.depends_on, {
    postgres: { condition: 'service_healthy' },
    redis: { condition: 'service_healthy' },
  });
});

test('compose: every file and volume that it names is there', () => {
  const context = path.join(folder, platform?.build?.context ?? '');
  assert.ok(statSync(path.join(context, platform?.build?.dockerfile ?? '')).isFile());
  assert.match(text('Dockerfile'), new RegExp(`^ARG ${Object.keys(platform?.build?.args ?? {}).join()}=`, 'm'));
  for (const volume of Object.values(compose.services).flatMap((service) => service.volumes ?? [])) {
    const [source = ''] = volume.split(':');
    if (source.startsWith('.')) assert.ok(statSync(path.join(folder, source)).mode & 0o100, `${source} is run`);
    else assert.ok(source in compose.volumes, source);
  }
  const overlay = parse(text('compose.sandbox.yaml')) as typeof compose;
  assert.deepEqual(Object.keys(overlay.services), ['platform']);
});

test('compose, its example, the image and the unit name settings that exist', () => {
  const interpolated = [...text('compose.yaml').matchAll(/\$\{(\w+)/g)].map((match) => match[1] ?? '');
  const example = [...text('.env.example').matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm)].map((match) => match[1] ?? '');
  const image = [...text('Dockerfile').matchAll(/^ENV (.+)$/gm)].flatMap((match) =>
    (match[1] ?? '').split(' ').map((pair) => pair.split('=')[0] ?? ''),
  );
  const unit = [...text('troupe.service').matchAll(/^Environment=(\w+)=/gm)].map((match) => match[1] ?? '');
  const named = [...Object.keys(platform?.environment ?? {}), ...interpolated, ...example, ...image, ...unit];
  assert.ok(named.length > 10);
  assert.deepEqual(
    named.filter((name) => !settings.has(name) && !NOT_SETTINGS.has(name)),
    [],
  );
});

test('single services: a unit and a compose file start each alone, bounded and watched as the whole is', () => {
  const names = ['web', 'backend', 'summarizer'];
  const alone = parse(text('compose.services.yaml'), { merge: true }) as {
    services: Record<string, Service & { command: string[]; healthcheck: { test: string[] } }>;
  };
  assert.deepEqual(Object.keys(alone.services), names);
  const ports = { web: '3000', backend: '3001', summarizer: '3100' };
  for (const [name, service] of Object.entries(alone.services)) {
    assert.deepEqual(service.command, ['node', 'scripts/start.mjs', name]);
    assert.match(service.mem_limit ?? '', /^\d+[mg]$/, name);
    assert.equal(service.restart, 'unless-stopped', name);
    assert.equal(service.healthcheck.test.at(-1), `http://127.0.0.1:${ports[name as keyof typeof ports]}/health`);
  }
  // The same service in all but its name and its folder.
  const plain = (unit: string): string[] => text(unit).split('\n');
  const whole = new Set(plain('troupe.service'));
  assert.deepEqual(
    plain('troupe@.service').filter((line) => !whole.has(line) && !line.startsWith('#')),
    [
      'Description=Troupe, %i',
      'ExecStart=/usr/bin/node scripts/start.mjs %i',
      'Environment=DATA_DIR=/var/lib/troupe-%i',
      'StateDirectory=troupe-%i',
    ],
  );
});

interface StackService {
  command: string[];
  environment: Record<string, string>;
  secrets: { target: string; uid: string; mode: number }[];
  healthcheck: { test: string[] };
  deploy: { update_config: { order: string; failure_action: string }; resources: { limits: { memory: string } } };
}
/** What the stack alone asks for. */
const OF_STACK = new Set(['IMAGE', 'SETTINGS', 'SUMMARIZER_SETTINGS', 'DOCKER_GROUP']);

test('stack: services are watched where they listen, bounded, rolled, and find their secrets where settings are read', () => {
  const stack = parse(text('stack.yaml'), { merge: true }) as { services: Record<string, StackService> };
  assert.deepEqual(Object.keys(stack.services), ['web', 'backend', 'summarizer']);
  for (const [name, service] of Object.entries(stack.services)) {
    assert.deepEqual(service.command, ['node', 'scripts/start.mjs', name]);
    const port = settings.get(`${name.toUpperCase()}_PORT`)?.example;
    assert.equal(service.healthcheck.test.at(-1), `http://127.0.0.1:${port}/health`);
    assert.deepEqual(
      [service.deploy.update_config.order, service.deploy.update_config.failure_action],
      ['start-first', 'rollback'],
    );
    assert.match(service.deploy.resources.limits.memory, /^\d+[MG]$/, name);
    const workdir = /^WORKDIR (\S+)$/m.exec(text('Dockerfile'))?.[1];
    assert.deepEqual(
      service.secrets.map(({ target, uid, mode }) => [target, uid, mode]),
      [[`${workdir}/.env`, '10001', 400]],
    );
    for (const given of Object.keys(service.environment)) assert.equal(settings.get(given)?.secret, false, given);
  }
  for (const file of ['stack.yaml', 'stack.agents.yaml'])
    for (const [, name = ''] of text(file).matchAll(/\$\{(\w+)/g))
      assert.ok(settings.has(name) || OF_STACK.has(name), `${file}: ${name}`);
  const agents = parse(text('stack.agents.yaml')) as typeof stack;
  assert.deepEqual(Object.keys(agents.services), ['backend']);
  for (const given of Object.keys(agents.services['backend']?.environment ?? {}))
    assert.equal(settings.get(given)?.secret, false, given);
});

test('no file of deploy/ holds a secret, and the secrets of the example are those that production asks for', () => {
  const files = globSync('{*,.*,*/*}', { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map(({ parentPath, name }) => path.relative(folder, path.join(parentPath, name)));
  assert.ok(names.includes('kubernetes/agents.yaml'));
  for (const file of names.filter((name) => name !== '.env'))
    for (const [, name = '', value = ''] of text(file).matchAll(/^([A-Z][A-Z0-9_]+)=(.*)$/gm))
      assert.ok(!settings.get(name)?.secret || value === '', `${file}: ${name}`);
  const list = /for name in (.+); do/.exec(text('.env.example'))?.[1]?.split(' ');
  assert.deepEqual(list?.sort(), ['INTERNAL_API_KEY', 'POSTGRES_PASSWORD', 'SESSION_SECRET', 'WALLET_ENCRYPTION_KEY']);
});

test('proxies lead to the ports that the services listen on, and name one hop', () => {
  for (const file of ['nginx.conf', 'Caddyfile']) {
    const ports = [...text(file).matchAll(/127\.0\.0\.1:(\d+)/g)].map((match) => match[1]);
    const ours = [settings.get('WEB_PORT')?.example, settings.get('BACKEND_PORT')?.example];
    assert.deepEqual(new Set(ports), new Set(ours), file);
  }
  assert.match(text('.env.example'), /^TRUST_PROXY=1$/m);
});

test('proxies lead every path of /v1 that clients of others use to the backend, and no other', () => {
  const [open, closed] = [publicPaths(), closedPaths()];
  assert.ok(open.length > 50 && closed.includes('/v1/team-store'));
  for (const file of ['nginx.conf', 'Caddyfile']) {
    const pattern = new RegExp(/(\^\/v1\/\S+)/.exec(text(file))?.[1] ?? 'none');
    for (const where of open) assert.match(where, pattern, file);
    for (const where of closed) assert.doesNotMatch(where, pattern, file);
  }
});

/** What nginx reads as a size. */
function bytesOf(size: string): number {
  const [, number = '', unit = ''] = /^(\d+)([kmg]?)$/i.exec(size) ?? [];
  return Number(number) * 1024 ** ['', 'k', 'm', 'g'].indexOf(unit.toLowerCase());
}

test('proxies take every request that the platform takes', () => {
  const most = Math.max(...allEndpoints().map(({ bodyLimit = 0 }) => bodyLimit));
  assert.ok(most > 25 * 1024 * 1024);
  const docs = readFileSync(path.join(folder, '../docs/deploy.md'), 'utf8');
  const examples = [...docs.matchAll(/^```nginx\n(.*?)^```/gms)].map(([, code = '']) => code);
  const passing = [text('nginx.conf'), ...examples].flatMap((code) =>
    // without the comments, which may name anything
    [...code.replaceAll(/#.*/g, '').matchAll(/location [^{]*\{(?:[^{}]|\{[^{}]*\})*\}/g)]
      .map(([block]) => block)
      .filter((block) => block.includes('proxy_pass')),
  );
  assert.equal(passing.length, 4);
  for (const block of passing) {
    const [, size = '0'] = /client_max_body_size (\w+);/.exec(block) ?? [];
    assert.ok(bytesOf(size) > most, block);
  }
  const example = parse(text('chart/examples/ingress.yaml')) as { ingress: { annotations: Record<string, string> } };
  assert.ok(bytesOf(example.ingress.annotations['nginx.ingress.kubernetes.io/proxy-body-size'] ?? '0') > most);
  // Caddy bounds no body unless told.
  assert.doesNotMatch(text('Caddyfile'), /request_body/);
});
