import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wantedBy } from './wanted.ts';

const read = (line: string) => {
  const [command, ...args] = line.split(' ');
  const found = wantedBy({ command, args });
  return found && [found.name, found.range, found.bin, ...found.args];
};

test('a command that runs a package is understood as its runner would', () => {
  assert.deepEqual(read('npx -y some-server'), ['some-server', 'latest', undefined]);
  assert.deepEqual(read('/usr/bin/npx --yes @a/b@^1.2 --root .'), ['@a/b', '^1.2', undefined, '--root', '.']);
  assert.deepEqual(read('npm exec -y -- x@1.0.0 go'), ['x', '1.0.0', undefined, 'go']);
  assert.deepEqual(read('npm exec x -- go'), ['x', 'latest', undefined, 'go']);
  assert.deepEqual(read('npx -y -p @a/b@2 tool --now'), ['@a/b', '2', 'tool', '--now']);
  assert.deepEqual(read('npx --package=b tool'), ['b', 'latest', 'tool']);
  assert.deepEqual(read('pnpm dlx x'), ['x', 'latest', undefined]);
  assert.equal(read('npm start'), undefined);
  assert.equal(read('node server.mjs'), undefined);
  assert.equal(read('uvx thing'), undefined);
});

test('what cannot be pinned is refused by name', () => {
  for (const spec of [
    './x',
    '../x',
    'git+https://h/x.git',
    'https://h/x.tgz',
    'user/repo',
    'x@file:../y',
    'x@https://h/y',
  ])
    assert.throws(() => read(`npx -y ${spec}`), /is no package of the registry/, spec);
  assert.throws(() => read('npx -y'), /nothing is no package/);
  assert.throws(() => read('npx -c "rm -rf"'), /-c is not understood here/);
  assert.throws(() => read('npx --registry=http://evil x'), /is not understood here/);
});
