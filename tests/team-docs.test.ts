import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import * as format from '../packages/domain/src/teams/format.ts';
import type { Rule } from '../packages/domain/src/teams/format.ts';

/** docs/teams.md says of every key and toolset what the reader does with it. */

const NAMES = { carried: 'yes', asked: 'to be given', lost: 'left out, named', refused: 'refused' } as const;

const row = (name: string, { fate, says }: Rule): string =>
  `| \`${name}\` | ${NAMES[fate]} | ${says.replace(/^./, (first) => first.toUpperCase()).replace(/([^.])$/, '$1.')} |`;

const rows = (rules: Readonly<Record<string, Rule>>, before = ''): string[] =>
  Object.entries(rules).map(([key, rule]) => row(`${before}${key}`, rule));

const table = (head: string, lines: string[]): string => [`| ${head} | Read | |`, '|---|---|---|', ...lines].join('\n');

test('the table of docs/teams.md is the reader’s', async () => {
  const page = await readFile(new URL('../docs/teams.md', import.meta.url), 'utf8');
  const { type: _type, ...common } = format.toolsetKeys('think');
  const { shared: _shared, ...everywhere } = common;
  const tables = [
    table('Of the document', [...rows(format.TEAM_KEYS), ...rows(format.METADATA_KEYS, 'metadata.')]),
    table('Of an agent', [...rows(format.AGENT_KEYS), ...rows(format.FALLBACK_KEYS, 'fallback.')]),
    table('Of a model', rows(format.MODEL_KEYS)),
    table('Toolset', rows(format.TOOLSETS)),
    table('Of a toolset', [
      ...rows(everywhere, '*.'),
      ...Object.entries(format.TOOLSETS).flatMap(([type, { keys }]) => rows(keys, `${type}.`)),
    ]),
  ];
  for (const expected of tables) assert.ok(page.includes(expected), `docs/teams.md lacks this table:\n${expected}`);
});
