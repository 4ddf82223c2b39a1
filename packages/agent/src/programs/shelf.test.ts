import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';
import { createOutbound, createWorkerPool, silentLog } from '@troupe/kernel';
import { packed, startRegistry } from '@troupe/testing/npm/registry';
import { createProgramShelf } from './shelf.ts';
import { wantedBy, type Wanted } from './wanted.ts';

/** Programs that are npm packages: found, compared, installed once, shared, and removed when nobody names them. */

const registry = await startRegistry();
const outbound = createOutbound({ allowLoopback: true });
const pool = createWorkerPool();
const folder = await mkdtemp(path.join(tmpdir(), 'agent-programs-'));
after(async () => {
  await registry.stop();
  await pool.close();
  await outbound.close();
  await rm(folder, { recursive: true, force: true });
});

let root = folder;
let named = new Set<string>();
let count = 0;
beforeEach(() => {
  root = path.join(folder, String((count += 1)));
  named = new Set();
  registry.requests.length = 0;
  registry.silent(false);
});

type Options = Partial<Parameters<typeof createProgramShelf>[0]>;
const shelfWith = (options: Options = {}) =>
  createProgramShelf({
    root,
    registry: registry.url,
    outbound,
    pool,
    log: silentLog,
    named: async () => named,
    ...options,
  });
const wanted = (spec: string): Wanted => wantedBy({ command: 'npx', args: ['-y', spec] })!;
const archives = () => registry.requests.filter((url) => url.endsWith('.tgz')).length;
/** Those that are in their place. */
const programs = async () => (await readdir(root)).filter((name) => /^[0-9a-f]{64}$/.test(name));

await registry.publish(
  { name: 'tool', version: '1.0.0', bin: './cli.js', dependencies: { lib: '^1.0.0', other: '*' } },
  { 'cli.js': "#!/usr/bin/env node\nconsole.log(require('lib'), require('other'))" },
);
await registry.publish({ name: 'lib', version: '1.0.0' }, { 'index.js': "module.exports = 'lib 1.0'" });
await registry.publish({ name: 'lib', version: '1.5.0' }, { 'index.js': "module.exports = 'lib 1.5'" });
await registry.publish({ name: 'lib', version: '2.0.0' }, { 'index.js': "module.exports = 'lib 2.0'" });
await registry.publish(
  {
    name: 'other',
    version: '3.0.0',
    dependencies: { lib: '^2.0.0' },
    optionalDependencies: { 'no-such-package': '*' },
  },
  { 'index.js': "module.exports = `other with ${require('lib')}`" },
);

describe('a program that is an npm package', () => {
  test('is resolved with all that it needs, each in the version that it asked for, and pinned', async () => {
    const shelf = shelfWith();
    const pin = await shelf.resolve(wanted('tool'), 'ann', {});
    assert.deepEqual([pin.name, pin.version, pin.entry], ['tool', '1.0.0', 'node_modules/tool/cli.js']);
    assert.deepEqual(
      pin.packages.map(({ at, version }) => [at, version]).toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
      [
        ['node_modules/lib', '1.5.0'],
        ['node_modules/other', '3.0.0'],
        ['node_modules/other/node_modules/lib', '2.0.0'],
        ['node_modules/tool', '1.0.0'],
      ],
    );
    for (const { integrity } of pin.packages) assert.match(integrity, /^sha512-/);
    const at = await shelf.folder(pin, 'ann');
    const said = await import('node:child_process').then(({ execFileSync }) =>
      execFileSync(process.execPath, [path.join(at, pin.entry)], { encoding: 'utf8' }),
    );
    assert.equal(said, 'lib 1.5 other with lib 2.0\n');
    assert.equal((await stat(path.join(at, pin.entry))).mode & 0o222, 0, 'nobody writes to it');
  });

  test('runs nothing of its own when it is installed', async () => {
    const proof = path.join(folder, 'was-run');
    const scripts = Object.fromEntries(
      ['preinstall', 'install', 'postinstall', 'prepare'].map((name) => [name, `touch ${proof}`]),
    );
    await registry.publish(
      { name: 'eager', version: '1.0.0', bin: 'x.js', scripts },
      { 'x.js': '', 'binding.gyp': '{}' },
    );
    const shelf = shelfWith();
    await shelf.folder(await shelf.resolve(wanted('eager'), 'ann', {}), 'ann');
    assert.ok(!existsSync(proof));
  });

  test('is installed once, however many ask at once, also from another process', async () => {
    const [one, two] = [shelfWith(), shelfWith()];
    const pins = await Promise.all([
      ...Array.from({ length: 10 }, (_, index) => one.resolve(wanted('tool'), `user ${index}`, {})),
      two.resolve(wanted('tool'), 'bob', {}),
    ]);
    assert.equal(new Set(pins.map(({ digest }) => digest)).size, 1);
    assert.equal(archives(), 4, 'each archive is fetched once');
    assert.equal((await programs()).length, 1);
    const folders = await Promise.all(pins.flatMap((pin) => [one.folder(pin, 'ann'), two.folder(pin, 'bob')]));
    assert.equal(new Set(folders).size, 1);
    assert.equal(archives(), 4);
    assert.deepEqual(
      (await readdir(root)).filter((name) => name.endsWith('.part')),
      [],
    );
  });

  test('stays what it was when a newer one is out, until somebody asks for it', async () => {
    const shelf = shelfWith();
    await registry.publish({ name: 'grows', version: '1.0.0', bin: 'x.js' }, { 'x.js': '1' });
    const pin = await shelf.resolve(wanted('grows'), 'ann', {});
    await registry.publish({ name: 'grows', version: '1.1.0', bin: 'x.js' }, { 'x.js': '2' });
    registry.tag('grows', '1.1.0');
    await rm(path.join(root, pin.digest), { recursive: true });
    const at = await shelf.folder(pin, 'ann');
    assert.equal(await readFile(path.join(at, pin.entry), 'utf8'), '1', 'fetched again, it is the same');
    const fresh = await shelf.resolve(wanted('grows'), 'ann', { before: pin });
    assert.deepEqual([fresh.version, fresh.digest === pin.digest], ['1.1.0', false]);
  });

  test('whose contents are others under the same version is refused, whatever the registry says of them', async () => {
    const shelf = shelfWith();
    const manifest = { name: 'swapped', version: '1.0.0', bin: 'x.js' };
    await registry.publish(manifest, { 'x.js': 'good' });
    const pin = await shelf.resolve(wanted('swapped'), 'ann', {});
    await registry.swap(manifest, { 'x.js': 'evil' }, { promised: true });
    await assert.rejects(
      shelf.resolve(wanted('swapped'), 'ann', { before: pin }),
      /swapped 1\.0\.0 is not what it was/,
    );
    await rm(path.join(root, pin.digest), { recursive: true });
    await assert.rejects(shelf.folder(pin, 'ann'), /swapped 1\.0\.0 is not what it was when it was pinned/);
    const fresh = { ...manifest, name: 'intercepted' };
    await registry.publish(fresh, { 'x.js': 'good' });
    await registry.swap(fresh, { 'x.js': 'evil' }, { promised: false });
    await assert.rejects(
      shelf.resolve(wanted('intercepted'), 'bob', {}),
      /contents are others than the registry promises/,
    );
  });

  test('that is installed runs on while the registry is dead', async () => {
    const shelf = shelfWith();
    const pin = await shelf.resolve(wanted('tool'), 'ann', {});
    const gone = shelfWith({ registry: 'http://127.0.0.1:9' });
    assert.ok(existsSync(path.join(await gone.folder(pin, 'ann'), pin.entry)));
    await assert.rejects(gone.resolve(wanted('grows'), 'ann', {}), /the registry of packages cannot be used/);
  });

  test('that never comes is given up, and nothing of it is left', async () => {
    registry.silent(true);
    await assert.rejects(
      shelfWith({ installMs: 300 }).resolve(wanted('tool'), 'ann', {}),
      /not installed within 0\.3 s/,
    );
    registry.silent(false);
    assert.equal((await shelfWith().resolve(wanted('tool'), 'ann', {})).version, '1.0.0', 'and the next one comes');
  });

  test('says what is wrong with it', async () => {
    const shelf = shelfWith();
    const refused = (spec: string, why: RegExp) => assert.rejects(shelf.resolve(wanted(spec), 'ann', {}), why);
    await refused('no-such-package', /no-such-package cannot be had: the registry has no version latest of it/);
    await refused('tool@^7', /the registry has no version \^7 of it/);
    await refused('lib', /lib is no program: it has nothing to run/);
    await registry.publish(
      { name: 'two', version: '1.0.0', bin: { a: 'a.js', b: 'b.js' } },
      { 'a.js': '', 'b.js': '' },
    );
    await refused('two', /two has the programs a, b: say which/);
    await registry.publish({ name: 'elsewhere', version: '1.0.0', bin: 'x.js', os: ['win32'] }, { 'x.js': '' });
    await refused('elsewhere', /it is for win32/);
    await registry.publish(
      { name: 'by-git', version: '1.0.0', bin: 'x.js', dependencies: { a: 'git+https://h/a' } },
      {},
    );
    await refused('by-git', /a comes from git\+https:\/\/h\/a, which is no package of the registry/);
  });

  test('of an old registry is compared by its old sum, and pinned by the strong one', async () => {
    await registry.publish({ name: 'old', version: '0.1.0', bin: 'x.js' }, { 'x.js': 'old' }, { old: true });
    const pin = await shelfWith().resolve(wanted('old'), 'ann', {});
    assert.match(pin.integrity, /^sha512-/);
  });
});

describe('an archive', () => {
  const file = (name: string, text = 'x') => ({ path: name, mode: 0o644, content: Buffer.from(text) });
  const manifest = (name: string) => ({ name, version: '1.0.0', bin: 'x.js' });

  test('cannot write outside of its place, nor leave links there', async () => {
    for (const [name, bad] of [
      ['up', 'package/../../../evil'],
      ['root', '/evil'],
    ] as const) {
      registry.put(manifest(name), await packed([file('package/x.js'), file(bad)]));
      await assert.rejects(shelfWith().resolve(wanted(name), 'ann', {}), /a path that/);
    }
    const link = { path: 'package/l', mode: 0o777, link: '/etc/passwd' };
    registry.put(manifest('linked'), await packed([file('package/x.js'), link]));
    const shelf = shelfWith();
    const at = await shelf.folder(await shelf.resolve(wanted('linked'), 'ann', {}), 'ann');
    assert.deepEqual(await readdir(path.join(at, 'node_modules/linked')), ['x.js']);
    assert.deepEqual(
      (await readdir(root)).filter((one) => one === 'evil'),
      [],
    );
  });

  test('that is damaged, or a bomb, is refused with a sentence', async () => {
    registry.put(manifest('broken'), Buffer.from('no archive'));
    await assert.rejects(shelfWith().resolve(wanted('broken'), 'ann', {}), /broken 1\.0\.0 cannot be installed/);
    registry.put(manifest('bomb'), await packed([file('package/x.js', '0'.repeat(170 * 1024 * 1024))]));
    await assert.rejects(shelfWith().resolve(wanted('bomb'), 'ann', {}), /too large|too much memory/);
  });
});

describe('what nobody names', () => {
  test('is removed after its time, and what somebody names stays', async () => {
    const shelf = shelfWith({ graceMs: 60_000 });
    const kept = await shelf.resolve(wanted('tool'), 'ann', {});
    const gone = await shelf.resolve(wanted('eager'), 'ann', {});
    named = new Set([kept.digest]);
    await shelf.sweep();
    assert.equal((await programs()).length, 2, 'it may be about to be named');
    const before = new Date(Date.now() - 120_000);
    for (const digest of await programs()) await utimes(path.join(root, digest), before, before);
    await shelf.sweep();
    assert.deepEqual(await programs(), [kept.digest]);
    assert.ok(await shelf.folder(gone, 'ann'), 'and comes back when it is wanted');
  });

  test('makes room, and where there is none a sentence says so', async () => {
    const shelf = shelfWith({ graceMs: 0, mostPrograms: 1 });
    const first = await shelf.resolve(wanted('tool'), 'ann', {});
    named = new Set([first.digest]);
    await assert.rejects(shelf.resolve(wanted('eager'), 'ann', {}), /no room for another program/);
    named = new Set();
    assert.equal((await shelf.resolve(wanted('eager'), 'ann', {})).name, 'eager');
    assert.equal((await programs()).length, 1);
  });
});
