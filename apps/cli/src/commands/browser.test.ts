import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openerOf } from './browser.mjs';

test('no shell reads the address that a platform names', () => {
  for (const system of ['linux', 'darwin', 'win32'])
    assert.doesNotMatch(openerOf(system).join(' '), /\b(?:cmd|powershell|pwsh|sh)\b/);
});
