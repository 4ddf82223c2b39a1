import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test } from 'node:test';
import { importsOf, readSources } from '@troupe/testing/sources/sources';
import {
  agentsByRoster,
  areasInOrder,
  codesNotTexts,
  direction,
  environmentOnlyInMain,
  everyRoomLivedIn,
  jobsByContract,
  lightStart,
  LONG_FILES,
  noCycles,
  noDeepImports,
  noTestCode,
  ROOMS,
  type Rule,
  schemasMadeOnce,
  shortFiles,
  slicesAreTested,
  slicesHaveOneShape,
  slicesThroughService,
  specByItsSection,
  sqlInStores,
} from './lib/architecture.ts';
import { endpointsInGroups } from './lib/architecture-contract.ts';
import { loopStaysFree, ON_THE_LOOP } from './lib/architecture-loop.ts';

const sources = readSources(path.resolve(import.meta.dirname, '..'));

const RULES: Readonly<Record<string, Rule>> = {
  'imports go only downwards': direction,
  'a package is used through its entry': noDeepImports,
  'what is for tests is used by tests': noTestCode,
  'a slice uses another only through its service': slicesThroughService,
  'an area uses only those before it': areasInOrder,
  'no file imports itself by a detour': noCycles,
  'the environment is read in main.ts only': environmentOnlyInMain,
  'every room of the design is lived in': everyRoomLivedIn,
  'files are short': shortFiles,
  'a start loads nothing heavy': lightStart,
  'nothing that others supply is computed on the loop': loopStaysFree,
  'a schema is made once': schemasMadeOnce,
  'queues and channels are named in the contract': jobsByContract,
  'endpoints are reached by service, slice and verb': endpointsInGroups,
  'rows of agents are written by the roster': agentsByRoster,
  'no rule goes by an error’s text': codesNotTexts,
  'SQL is in stores': sqlInStores,
  'a slice has one shape': slicesHaveOneShape,
  'a slice has its test beside it': slicesAreTested,
  'a test of the contract is named by its section': specByItsSection,
};

describe('the sources', () => {
  for (const [title, rule] of Object.entries(RULES)) test(title, () => assert.deepEqual(rule(sources), []));
  test('every exception to the length of a file is still one', () => {
    const lines = new Map(sources.map((source) => [source.path, source.text.split('\n').length]));
    assert.deepEqual(
      Object.keys(LONG_FILES).filter((file) => (lines.get(file) ?? 0) <= 400),
      [],
    );
  });
});

test('every exception to what runs on the loop is still one', () => {
  const elsewhere = Object.keys(ON_THE_LOOP).filter((file) => {
    const source = sources.find(({ path: known }) => known === file);
    return !source || loopStaysFree([{ ...source, path: file.replace(/[^/]+$/, 'other.ts') }]).length === 0;
  });
  assert.deepEqual(elsewhere, []);
});

const src = (file: string, ...lines: string[]) => ({ path: file, text: lines.join('\n') });

/** Sources that break a rule, and how many complaints they must cause. */
const BROKEN: readonly [rule: Rule, what: string, complaints: number, files: ReturnType<typeof src>[]][] = [
  [direction, 'a package imports upwards', 1, [src('packages/db/src/a.ts', "import { x } from '@troupe/ledger';")]],
  [direction, 'peers import each other', 1, [src('packages/ai/src/a.ts', "import { x } from '@troupe/usage';")]],
  [direction, 'web imports backend', 1, [src('apps/web/src/a.ts', "import { x } from '@troupe/backend';")]],
  [direction, 'the dashboard imports kernel', 1, [src('apps/dashboard/src/a.tsx', "export * from '@troupe/kernel';")]],
  [direction, 'the summarizer imports db', 1, [src('apps/summarizer/src/a.ts', "await import('@troupe/db');")]],
  [
    direction,
    'an import over several lines',
    1,
    [src('packages/domain/src/a.ts', 'import {', '  type X,', "} from '@troupe/kernel';")],
  ],
  [direction, 'downwards is fine', 0, [src('apps/web/src/a.ts', "import '@troupe/db';", "import z from 'zod';")]],
  [noDeepImports, 'a deep import by name', 1, [src('apps/web/src/a.ts', "import { x } from '@troupe/db/src/x.ts';")]],
  [
    noDeepImports,
    'a deep import by path',
    2,
    [
      src('apps/web/src/a.ts', "import { x } from '../../../packages/db/src/x.ts';"),
      src('tests/spec/a.ts', "import { x } from '../../apps/web/src/app.ts';"),
    ],
  ],
  [
    noDeepImports,
    'what tests share is reached by name',
    2,
    [
      src('apps/web/src/a.test.ts', "import { x } from '../../../tests/lib/x.ts';"),
      src('tests/spec/a.test.ts', "import { x } from '../../packages/testing/src/a/x.ts';"),
      src('tests/spec/b.test.ts', "import { x } from '@troupe/testing/a/x';"),
    ],
  ],
  [
    noTestCode,
    'a program or an entry has code for tests',
    3,
    [
      src('apps/web/src/a.ts', "import { x } from '@troupe/testing/a/x';"),
      src('packages/db/src/index.ts', "export { x } from './testing.ts';"),
      src('apps/backend/src/b.ts', "await import('./bus-testing.ts');"),
      src('packages/db/src/a.test.ts', "import { x } from '@troupe/testing/a/x';", "import './testing.ts';"),
      src('packages/fleet/src/testing.ts', "import { x } from '@troupe/testing/a/x';"),
      src('bench/a.ts', "import { x } from '@troupe/testing/a/x';"),
    ],
  ],
  [
    slicesThroughService,
    "a slice takes another's store",
    1,
    [
      src('apps/web/src/agents/a/service.ts', "import { x } from '../b/store.ts';"),
      src('apps/backend/src/agents/c/service.ts', "import { x } from '../b/service.ts';", "import './store.ts';"),
      src('apps/web/src/app.ts', "import { x } from './agents/b/routes.ts';"),
    ],
  ],
  [
    areasInOrder,
    'identity reaches up to money, a page to the overview, and there is a sixth area',
    3,
    [
      src('apps/web/src/identity/oauth/service.ts', "import { x } from '../../money/chains.ts';"),
      src('apps/web/src/money/wire.ts', "import { x } from '../platform/reach.ts';"),
      src('apps/dashboard/src/pages/agents/a.tsx', "import { x } from '../platform/landing.tsx';"),
      src('packages/contract/src/other/a.ts', ''),
    ],
  ],
  [
    noCycles,
    'three files in a ring',
    1,
    [
      src('packages/db/src/a.ts', "import { b } from './b.ts';"),
      src('packages/db/src/b.ts', "import { c } from './c/c.ts';"),
      src('packages/db/src/c/c.ts', "import { a } from '../a.ts';"),
      src('packages/db/src/d.ts', "import { a } from './a.ts';"),
    ],
  ],
  [
    environmentOnlyInMain,
    'the environment is read elsewhere',
    1,
    [
      src('packages/db/src/a.ts', 'const url = process.env.DATABASE_URL;'),
      src('packages/db/src/b.ts', '// not from process.env'),
      src('packages/db/src/c.test.ts', 'const url = process.env.DATABASE_URL;'),
      src('apps/web/src/main.ts', 'const url = process.env.DATABASE_URL;'),
    ],
  ],
  [
    lightStart,
    'a start loads a heavy library, by a detour',
    1,
    [
      src('apps/platform/src/main.ts', "import { createWeb } from '@troupe/web';"),
      src('apps/web/src/index.ts', "export { createWeb } from './app.ts';", "import type Stripe from 'stripe';"),
      src('apps/web/src/app.ts', "import Stripe from 'stripe';", "const load = () => import('mppx');"),
      src('apps/web/src/other.ts', "import Docker from 'dockerode';"),
    ],
  ],
  [
    loopStaysFree,
    'what others supply is computed on the loop',
    9,
    [
      src('packages/agent/src/a.ts', 'path.posix.matchesGlob(name, pattern)'),
      src('packages/agent/src/b.ts', 'new RegExp(given)', '// not new RegExp(given)'),
      src('packages/agent/src/c.ts', "import Ajv from 'ajv';"),
      src('packages/agent/src/d.ts', "import { parse, stringify } from 'yaml';"),
      src('packages/agent/src/e.ts', 'await readdir(folder, { recursive: true })'),
      src('packages/agent/src/f.ts', 'const all = readdirSync(folder);', 'gzipSync(all);'),
      src('apps/web/src/g.ts', 'execFileSync(program)', 'parseDocument(text)'),
    ],
  ],
  [
    loopStaysFree,
    'in a task, in a test and with a constant it is fine',
    0,
    [
      src('packages/agent/src/a.task.ts', 'new RegExp(given)'),
      src('packages/agent/src/a.test.ts', 'execFileSync(program)'),
      src('packages/agent/src/a.ts', "new RegExp('^a$')", "import { stringify } from 'yaml';"),
    ],
  ],
  [
    schemasMadeOnce,
    'a schema is made for each request',
    1,
    [src('packages/agent/src/a.ts', 'await readJson(', '  exchange,', '  z.object({}),', ');')],
  ],
  [
    direction,
    'web reaches for what runs agents',
    2,
    [src('apps/web/src/a.ts', "import { x } from '@troupe/fleet';", "import { y } from '@troupe/agent';")],
  ],
  [
    agentsByRoster,
    'rows of agents are written elsewhere',
    2,
    [
      src('apps/web/src/a.ts', "db.system.updateTable('agents').set({ name });"),
      src('packages/fleet/src/a.ts', 'await sql`update agents set name = ${name}`.execute(tx);'),
      src('packages/roster/src/a.ts', "tx.insertInto('agents').values(rows);"),
    ],
  ],
  [
    jobsByContract,
    'a queue or a channel that is named elsewhere',
    8,
    [
      src('apps/web/src/a.ts', "jobs.work('mail', send);"),
      src('apps/web/src/b.test.ts', "await jobs.send(db.system, 'mail', { id });"),
      src('apps/web/src/c.ts', "listener.on('news', look);"),
      src('apps/web/src/d.ts', "await notify(tx, 'news', id);"),
      src('tests/spec/e.test.ts', "sql`select state from pgboss.job where name = 'mail'`"),
      src('apps/web/src/f.ts', "export const mail = job({ queue: 'mail', data });"),
      src('apps/web/src/g.ts', 'await sql`select pg_notify(${channel}, ${text})`.execute(tx);'),
      src('packages/contract/src/agents/jobs.ts', "job({ queue: 'mail', data });", "job({ queue: 'mail', data });"),
    ],
  ],
  [
    endpointsInGroups,
    'endpoints that the contract exports flat',
    3,
    [
      src(
        'packages/contract/src/index.ts',
        "export * from './identity/keys/web.ts';",
        "export { a, type B } from './b.ts';",
      ),
      src(
        'packages/contract/src/identity/keys/web.ts',
        'export const list = endpoint({',
        'export const get = endpoint({',
      ),
      src('packages/contract/src/b.ts', 'export const a = endpoint({', 'export const c = endpoint({'),
    ],
  ],
  [
    endpointsInGroups,
    'groups, and texts and types beside them, are fine',
    0,
    [
      src(
        'packages/contract/src/index.ts',
        "export * as web from './web.ts';",
        "export { GONE, type B } from './b.ts';",
      ),
      src('packages/contract/src/web.ts', "export * as b from './b.ts';"),
      src('packages/contract/src/b.ts', 'export const a = endpoint({', "export const GONE = 'Gone';"),
    ],
  ],
  [
    codesNotTexts,
    'a rule that goes by an error’s text',
    6,
    [
      src('packages/contract/src/agents/fields.ts', "export const NO_AGENT = 'Agent not found';"),
      src('apps/web/src/e.ts', 'return error === NO_AGENT ? 1 : 2;'),
      src('apps/web/src/f.ts', "const NONE = 'No agent';", 'if (NONE !== said) return;'),
      src('apps/web/src/a.ts', "if (error.message === 'Gone') return;"),
      src('apps/web/src/b.ts', "if (error.message.startsWith('Session ')) return;"),
      src('apps/web/src/c.ts', "if (error.body['error'] === NONE) return;"),
      src('packages/fleet/src/d.ts', 'if (/gone/.test(error.message)) return;'),
    ],
  ],
  [
    codesNotTexts,
    'a code, a text that is shown, and tests are fine',
    0,
    [
      src('apps/web/src/a.ts', "if (error.code === 'GONE') return;", 'say(error.message);', '// error.message === 1'),
      src('apps/web/src/a.test.ts', "assert.ok(error.message === 'Gone');"),
    ],
  ],
  [
    jobsByContract,
    'a job of the contract is fine',
    0,
    [
      src('packages/contract/src/agents/jobs.ts', "export const mailJob = job({ queue: 'mail', data });"),
      src('apps/web/src/a.ts', 'jobs.work(mailJob, send);', 'await jobs.send(tx, mailJob, { id });'),
    ],
  ],
  [
    sqlInStores,
    'SQL beside a store',
    3,
    [
      src('apps/web/src/money/a/service.ts', "db.system.selectFrom('users');"),
      src('apps/web/src/money/a.ts', "import { sql } from 'kysely';"),
      src('apps/backend/src/agents/b/routes.ts', 'await sql<Row>`select 1`.execute(tx);'),
      src('apps/web/src/money/a/store.ts', "tx.selectFrom('users');"),
      src('apps/web/src/money/a/card-store.ts', "tx.selectFrom('users');"),
      src('apps/web/src/money/a/a.test.ts', "db.system.selectFrom('users');"),
      src('packages/ledger/src/a.ts', "tx.selectFrom('users');"),
    ],
  ],
  [
    slicesHaveOneShape,
    'a slice of another shape',
    8,
    [
      src('apps/web/src/money/a/routes.ts', "throw new AppError(404, 'Not found');", "import './store.ts';"),
      src('apps/web/src/money/b/routes.ts', "import { rows } from './store.ts';"),
      src('apps/web/src/money/a/store.ts', "throw new AppError(404, 'Not found');"),
      src('apps/web/src/money/b/store.ts', "import type { A } from './service.ts';"),
      src('apps/web/src/money/c/store.ts', 'export function createMoneyStore() {}'),
      src('apps/web/src/money/a/other.ts', 'serve(server, getMoney, () => money);'),
      src('apps/web/src/money/b/service.ts', 'export interface B {}', 'export function createB(): B {}'),
      src(
        'apps/web/src/money/c/service.ts',
        'export type C = ReturnType<typeof createD>;',
        'export function createC() {}',
      ),
    ],
  ],
  [
    slicesHaveOneShape,
    'routes, service and store are fine',
    0,
    [
      src('apps/web/src/money/a/routes.ts', 'serve(server, getMoney, () => money.get());'),
      src(
        'apps/web/src/money/a/service.ts',
        'export type A = ReturnType<typeof createA>;',
        'export function createA() {}',
      ),
      src('apps/web/src/money/a/store.ts', 'export const find = (tx: UserTx) => tx;'),
    ],
  ],
  [
    slicesAreTested,
    'a slice without a test, and one with',
    1,
    [
      src('apps/web/src/money/a/routes.ts', ''),
      src('apps/web/src/money/a/testing.ts', ''),
      src('apps/backend/src/money/b/routes.ts', ''),
      src('apps/backend/src/money/b/b.test.ts', ''),
      src('apps/web/src/money/wire.ts', ''),
    ],
  ],
  [
    specByItsSection,
    'names without a section, and with one that is not there',
    2,
    [
      src('tests/spec/wallet.test.ts', ''),
      src('tests/spec/4.13-wallet.test.ts', ''),
      src('tests/spec/4.7-wallet.test.ts', ''),
      src('tests/spec/7-errors.test.ts', ''),
    ],
  ],
  [everyRoomLivedIn, 'no source is seen', ROOMS.length, []],
  [shortFiles, 'a file of 401 lines', 1, [src('packages/db/src/a.ts', ...Array.from({ length: 402 }, () => ''))]],
  [
    shortFiles,
    'a file of 400 lines is fine',
    0,
    [src('packages/db/src/a.ts', ...Array.from({ length: 401 }, () => ''))],
  ],
];

describe('the rules can fail', () => {
  for (const [rule, what, complaints, files] of BROKEN)
    test(what, () => assert.equal(rule(files).length, complaints, rule(files).join('\n')));
  test('no rule without an example that breaks it', () => {
    const shown = BROKEN.filter(([, , complaints]) => complaints > 0).map(([rule]) => rule);
    assert.deepEqual(new Set(shown), new Set(Object.values(RULES)));
  });
  test('every way to write an import is seen', () => {
    const text = `import 'a';\nimport b from "b";\nimport type { C } from 'c';\nexport * from 'd';\nexport { e } from 'e';
const f = await import('f');\nimport {\n  g,\n} from 'g';\nconst no = 'import from';`;
    assert.deepEqual(
      importsOf({ path: 'x.ts', text }).map(({ specifier }) => specifier),
      ['a', 'b', 'c', 'd', 'e', 'f', 'g'],
    );
  });
});
