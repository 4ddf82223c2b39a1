import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { localUrl, withEnvFile } from './environment.ts';

test('a set variable wins over .env, and no .env is no error', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-env-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, '.env');
  assert.deepEqual(withEnvFile({ HOST: 'a' }, file), { HOST: 'a' });
  writeFileSync(file, 'HOST=b\n# comment\nWEB_PORT=4000\n');
  assert.deepEqual(withEnvFile({ HOST: 'a' }, file), { HOST: 'a', WEB_PORT: '4000' });
});

test('a service that listens everywhere is reached on the loopback address', () => {
  assert.equal(localUrl({ HOST: '0.0.0.0' }, 3000), 'http://127.0.0.1:3000');
  assert.equal(localUrl({ HOST: '::' }, 3000), 'http://[::1]:3000');
  assert.equal(localUrl({ HOST: '::1' }, 1), 'http://[::1]:1');
  assert.equal(localUrl({ HOST: '10.0.0.5' }, 1), 'http://10.0.0.5:1');
});
