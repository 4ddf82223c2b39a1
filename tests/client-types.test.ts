import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { clientTypes } from '../scripts/lib/client-types.ts';

test('the types of the client are those of the contract', () => {
  const file = path.resolve(import.meta.dirname, '../packages/client/src/endpoints.gen.d.mts');
  assert.equal(readFileSync(file, 'utf8'), clientTypes(), 'run npm run docs:client');
});
