import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test } from 'node:test';
import { conformance } from '../../../../tests/lib/mcp/judge.ts';
import { needs } from '../../../../tests/lib/needs.ts';

/** The public conformance suite, against an agent's way to its MCP servers. */

const tests = path.resolve(import.meta.dirname, '../../../../tests');
const program = `${process.execPath} ${path.join(tests, 'lib/mcp/client.inside.ts')}`;

describe('the conformance suite', { skip: needs('the MCP judges') }, () => {
  for (const revision of ['2026-07-28', '2025-11-25'])
    test(`passes for ${revision}, but for what is named with its reason`, async () => {
      const failures = path.join(tests, `judges/mcp-client-failures-${revision}.yml`);
      const args = ['client', '--command', program, '--requirements', revision, '--timeout', '60000'];
      const { code, said } = await conformance([...args, '--expected-failures', failures]);
      assert.equal(code, 0, said);
    });
});
