import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test } from 'node:test';
import { readSources } from '@troupe/testing/sources/sources';
import { jobsByContract, noDeepImports, type Rule } from './lib/architecture.ts';
import {
  builtOnce,
  fetchIsGuarded,
  linesSayWhy,
  OWN_FETCH,
  slicesHaveAService,
  storesStayInside,
  wingsInOrder,
} from './lib/architecture-rooms.ts';

const sources = readSources(path.resolve(import.meta.dirname, '..'));

const RULES: Readonly<Record<string, Rule>> = {
  'a wing of the agent uses only those before it': wingsInOrder,
  'a slice rules in its service': slicesHaveAService,
  'a store is asked by its slice only': storesStayInside,
  'what a service has one of is made once': builtOnce,
  'everything from outside comes through the guarded client': fetchIsGuarded,
  'a line where the linter is off says why': linesSayWhy,
};

describe('the rooms', () => {
  for (const [title, rule] of Object.entries(RULES)) test(title, () => assert.deepEqual(rule(sources), []));
});

test('every exception to the guarded client is still one', () => {
  const elsewhere = Object.keys(OWN_FETCH).filter((file) => {
    const source = sources.find(({ path: known }) => known === file);
    return !source || fetchIsGuarded([{ ...source, path: `${file}.ts` }]).length === 0;
  });
  assert.deepEqual(elsewhere, []);
});

const src = (file: string, ...lines: string[]) => ({ path: file, text: lines.join('\n') });
const web = 'apps/web/src/money/';

/** Sources that break a rule, and how many complaints they must cause. */
const BROKEN: readonly [rule: Rule, what: string, complaints: number, files: ReturnType<typeof src>[]][] = [
  [
    wingsInOrder,
    'a store that reaches up to a tool, and a wing that is none',
    2,
    [
      src('packages/agent/src/store/a.ts', "import type { A } from '../tools/a.ts';", "import '../agent.ts';"),
      src('packages/agent/src/store/a.test.ts', "import { wake } from '../loop/run.ts';"),
      src('packages/agent/src/loop/b.ts', "import { a } from '../store/a.ts';"),
      src('packages/agent/src/other/c.ts', ''),
      src('packages/agent/src/wake.ts', "import { b } from './loop/b.ts';"),
    ],
  ],
  [
    slicesHaveAService,
    'a slice of another shape, one with routes only, and one that is whole',
    1,
    [
      src(`${web}a/figures.ts`, ''),
      src(`${web}a/a.test.ts`, ''),
      src(`${web}b/routes.ts`, ''),
      src(`${web}c/routes.ts`, ''),
      src(`${web}c/service.ts`, ''),
      src(`${web}c/store.ts`, ''),
    ],
  ],
  [
    storesStayInside,
    'wiring that asks a store',
    1,
    [
      src(`${web}wire.ts`, "import { forget } from './a/old-store.ts';", "import { x } from './once-store.ts';"),
      src(`${web}a/service.ts`, "import * as store from './store.ts';"),
      src(`${web}a/a.test.ts`, "import * as store from '../b/store.ts';"),
    ],
  ],
  [
    builtOnce,
    'a ledger in two places of one service',
    1,
    [
      src(`${web}wire.ts`, 'const ledger = createLedger({ clock });'),
      src('apps/web/src/identity/wire.ts', 'f(createLedger({ clock }));'),
      src('apps/backend/src/app.ts', 'const ledger = createLedger({ clock });'),
      src('apps/web/src/a.test.ts', 'const ledger = createLedger({ clock });'),
    ],
  ],
  [
    fetchIsGuarded,
    'a fetch of one’s own',
    2,
    [
      src(`${web}a/service.ts`, 'const answer = await fetch(url);', '// not fetch(url)'),
      src('packages/chain/src/a.ts', 'const send = globalThis.fetch;'),
      src('packages/chain/src/b.ts', 'await outbound.fetch(url);'),
      src('packages/chain/src/c.ts', 'async function fetch(url) {}', 'await fetch(url);'),
      src('apps/dashboard/src/api.ts', 'await fetch(url);'),
      src('packages/chain/src/b.test.ts', 'await fetch(url);'),
    ],
  ],
  [
    linesSayWhy,
    'a rule that is off for no reason',
    1,
    [
      src('apps/web/src/a.ts', '// oxlint-disable-next-line no-control-regex', 'x;'),
      src('apps/web/src/b.ts', '// oxlint-disable-next-line no-control-regex -- the bytes of a font', 'x;'),
    ],
  ],
  [
    noDeepImports,
    'a program that is put together from files of another room',
    2,
    [
      src('apps/backend/src/a.ts', "const ENTRY = new URL('../../agent/src/main.ts', import.meta.url);"),
      src('apps/backend/src/b.ts', "const ENTRY = new URL('../../agent/src/app.ts', import.meta.url);"),
      src('apps/backend/src/c.ts', "import '../../agent/src/main.ts';", "new URL('./c.task.ts', import.meta.url);"),
      src('bench/a.ts', "start(new URL('../apps/backend/src/main.ts', import.meta.url));"),
      src('apps/web/src/d.ts', "const DIST = new URL('../../dashboard/dist/', import.meta.url);"),
    ],
  ],
  [
    jobsByContract,
    'a channel that is named in SQL',
    1,
    [
      src('tests/attacks/a.test.ts', "await client.query(`select pg_notify('notices', $1)`, [id]);"),
      src('tests/attacks/b.test.ts', "await client.query(`select pg_notify('pgboss_' || $1)`, [id]);"),
    ],
  ],
];

describe('the rules can fail', () => {
  for (const [rule, what, complaints, files] of BROKEN)
    test(what, () => assert.equal(rule(files).length, complaints, rule(files).join('\n')));
  test('no rule without an example that breaks it', () => {
    const shown = new Set(BROKEN.map(([rule]) => rule));
    assert.deepEqual(
      Object.values(RULES).filter((rule) => !shown.has(rule)),
      [],
    );
  });
});
