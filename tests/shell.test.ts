import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { needs } from '@troupe/testing/machine/needs';

const root = path.resolve(import.meta.dirname, '..');

test('shell scripts pass shellcheck', { skip: needs('shellcheck') }, () => {
  const listed = spawnSync('git', ['ls-files', '--', '*.sh', '.ci/run'], { cwd: root, encoding: 'utf8' });
  // outside a clone there is no list; the one that is always there still counts
  const files = listed.status === 0 ? listed.stdout.trim().split('\n') : ['.ci/run'];
  const { status, stdout } = spawnSync('shellcheck', ['-x', '-P', 'SCRIPTDIR', ...files], {
    cwd: root,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout);
});
