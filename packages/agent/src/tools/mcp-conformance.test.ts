import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { conformance } from '../../../../tests/lib/mcp/judge.ts';
import { needs } from '../../../../tests/lib/needs.ts';

/**
 * The public conformance suite, against an agent's way to its MCP servers. One scenario after the other: the suite itself
 * starts all of them at once, each with a program of ours, and would take the machine from the other tests.
 */

const tests = path.resolve(import.meta.dirname, '../../../../tests');
const program = `${process.execPath} ${path.join(tests, 'lib/mcp/client.inside.ts')}`;

async function required(revision: string): Promise<string[]> {
  const { stdout } = await conformance(['list', '--requirements', revision]);
  const [, list = ''] = /Client scenarios[^\n]*\n((?: {2}- .*\n)+)/.exec(stdout) ?? [];
  return [...list.matchAll(/- (\S+)/g)].map(([, name = '']) => name);
}

function expected(revision: string): string[] {
  const file = path.join(tests, `judges/mcp-client-failures-${revision}.yml`);
  return [...readFileSync(file, 'utf8').matchAll(/^ {2}- (\S+)$/gm)].map(([, name = '']) => name);
}

describe('the conformance suite', { skip: needs('the MCP judges') }, () => {
  for (const revision of ['2026-07-28', '2025-11-25'])
    test(`passes for ${revision}, but for what is named with its reason`, async () => {
      const scenarios = await required(revision);
      assert.ok(scenarios.length > 15, 'the list was read');
      const failed: string[] = [];
      const said: string[] = [];
      for (const scenario of scenarios) {
        const args = ['--command', program, '--scenario', scenario, '--spec-version', revision, '--timeout', '60000'];
        const judged = await conformance(['client', ...args]);
        if (judged.code === 0) continue;
        failed.push(scenario);
        said.push(judged.said);
      }
      assert.deepEqual(failed.toSorted(), expected(revision).toSorted(), said.join('\n'));
    });
});
