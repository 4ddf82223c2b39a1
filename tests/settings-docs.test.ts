import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parseEnv } from 'node:util';
import { readSettings, settingDocs } from '@troupe/kernel';
import { envExample, settingsPage } from '../scripts/lib/settings-docs.ts';

const root = path.resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const uncommented = () => parseEnv(read('.env.example').replaceAll(/^#(?=[A-Z])/gm, ''));

test('.env.example and docs/settings.md are what the settings table prints', () => {
  assert.equal(read('.env.example'), envExample(), 'run npm run docs:settings');
  assert.equal(read('docs/settings.md'), settingsPage(), 'run npm run docs:settings');
});

test('.env.example names every setting once and changes nothing as it is', () => {
  assert.deepEqual(
    Object.keys(uncommented()).sort(),
    settingDocs()
      .map(({ name }) => name)
      .sort(),
  );
  assert.deepEqual(parseEnv(read('.env.example')), {});
});

test('every default in .env.example is the default', () => {
  // whether somebody chose the data folder is told apart from its default
  const { DATA_DIR, ...rest } = readSettings(uncommented());
  assert.equal(DATA_DIR, '.data');
  assert.deepEqual({ ...rest, DATA_DIR: undefined }, readSettings({}));
});

test('no secret has a value', () => {
  assert.deepEqual(
    settingDocs().filter(({ secret, example }) => secret && example !== ''),
    [],
  );
});
