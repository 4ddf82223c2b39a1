import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approvalFor, newDefinition } from './agent-definition.ts';
import { isStanding, letThrough, standingChoices, type StandingRule } from './standing.ts';

const files = (name: string) => ({ name, toolset: 'filesystem' });
const rule = (tool: string, within: string | null, folder?: string): StandingRule => ({
  tool,
  within,
  ...(folder !== undefined && { folder }),
});

test('a folder is what is in it, by no detour', () => {
  const rules = [rule('write_file', 'reports/**')];
  const may = (path: unknown) => isStanding(rules, files('write_file'), { path, content: 'x' });
  assert.ok(['reports/a.md', './reports//2026/a.md', 'reports/./a'].every(may));
  for (const path of [
    'reports',
    'reports-2/a.md',
    'other/reports/a.md',
    'reports/../secret.md',
    'reports/a/../../secret.md',
    '/reports/a.md',
    'reports\\..\\secret.md',
    'reports/a\0b',
    '',
    undefined,
    ['reports/a.md'],
  ])
    assert.equal(may(path), false, String(path));
  assert.equal(isStanding(rules, files('delete_file'), { path: 'reports/a.md' }), false);
  assert.equal(isStanding(rules, files('write_file'), undefined), false);
  const foreign = { name: 'write_file', toolset: 'github', offeredAs: 'write_file' };
  assert.equal(isStanding(rules, foreign, { path: 'reports/a.md' }), false);
});

test('who may write may change and make folders there, and nothing else; nobody may write who may change', () => {
  const within = (name: string, path: string, standing = rule('write_file', 'reports/**')) =>
    isStanding([standing], files(name), { path });
  for (const name of ['write_file', 'edit_file', 'create_directory']) {
    assert.equal(within(name, 'reports/2026/may.md'), true, name);
    assert.equal(within(name, 'plan.md'), false, name);
    assert.equal(within(name, 'reports/../plan.md'), false, name);
    assert.equal(within(name, 'plan.md', rule('write_file', null)), true, name);
  }
  for (const name of ['delete_file', 'move_file', 'read_file'])
    for (const standing of [rule('write_file', 'reports/**'), rule('write_file', null)])
      assert.equal(within(name, 'reports/may.md', standing), false, name);
  const oneFile = rule('write_file', 'reports/may.md');
  assert.equal(within('edit_file', 'reports/may.md', oneFile), true);
  assert.equal(within('create_directory', 'reports/may.md', oneFile), false);
  assert.equal(within('write_file', 'reports/may.md', rule('edit_file', 'reports/**')), false);
  const foreign = { name: 'edit_file', toolset: 'github', offeredAs: 'edit_file' };
  assert.equal(isStanding([rule('write_file', null)], foreign, { path: 'reports/may.md' }), false);
});

test('a move needs both of its ends inside', () => {
  const may = (source: string, destination: string) =>
    isStanding([rule('move_file', 'reports/**')], files('move_file'), { source, destination });
  assert.equal(may('reports/a.md', 'reports/b.md'), true);
  assert.equal(may('reports/a.md', 'b.md'), false);
  assert.equal(may('secret.md', 'reports/b.md'), false);
});

test('a command is itself in its folder, and nothing that begins like it', () => {
  const may = (cmd: string, cwd?: string) =>
    isStanding([rule('shell', 'git status', 'site')], { name: 'shell', toolset: 'shell' }, { cmd, cwd });
  assert.equal(may('git status', 'site'), true);
  for (const [cmd, cwd] of [['git status'], ['git status', '.'], ['git status; rm -rf .', 'site'], ['git', 'site']])
    assert.equal(may(cmd!, cwd), false);
});

test('a page is one of its host, whatever stands before or behind it', () => {
  const may = (url: unknown) =>
    isStanding([rule('fetch', 'example.com')], { name: 'fetch', toolset: 'fetch' }, { url });
  assert.equal(may('https://example.com/a?b=c'), true);
  for (const url of [
    'https://example.com.evil.org',
    'https://evil.org/example.com',
    'https://a:b@example.com/',
    'x',
    1,
  ])
    assert.equal(may(url), false, String(url));
});

test('it takes a question away, and never what is denied', () => {
  const standing = [rule('write_file', 'reports/**')];
  const definition = (approvals: Record<string, 'allow' | 'ask' | 'deny'>) => {
    const made = newDefinition({ name: 'Ada', approvals });
    return { ...made, config: { ...made.config, safety: { ...made.config.safety, standing } } };
  };
  const of = (approvals: Record<string, 'allow' | 'ask' | 'deny'>, path: string) =>
    approvalFor(definition(approvals), files('write_file'), { path });
  assert.equal(of({ write_file: 'ask' }, 'reports/a.md'), 'allow');
  assert.equal(of({ filesystem: 'ask' }, 'plan.md'), 'ask');
  assert.equal(of({ write_file: 'deny' }, 'reports/a.md'), 'deny');
});

test('what is offered is the narrowest first, and of a command only itself', () => {
  const offered = (tool: string, args: Record<string, unknown>) =>
    standingChoices(tool, args).map(({ within }) => within);
  assert.deepEqual(offered('write_file', { path: 'reports/2026/may.md' }), [
    'reports/2026/may.md',
    'reports/2026/**',
    'reports/**',
    null,
  ]);
  assert.deepEqual(offered('move_file', { source: 'a/b/x', destination: 'a/c/x' }), ['a/**', null]);
  assert.deepEqual(standingChoices('shell', { cmd: 'git push' }), [{ within: 'git push', folder: '.' }]);
  assert.deepEqual(offered('shell', { cmd: 'x'.repeat(3000) }), []);
  assert.deepEqual(offered('fetch', { url: 'https://example.com/a' }), ['example.com', null]);
  assert.deepEqual(offered('github_search', { q: 'x' }), [null]);
  assert.deepEqual(offered('write_file', { path: '../x' }), [null]);
  // A file that is named like a folder's rule is not offered as if it were one file.
  assert.deepEqual(offered('write_file', { path: 'reports/**' }), [null]);
  // Every choice allows the call that it was made of.
  for (const choice of standingChoices('write_file', { path: 'reports/2026/may.md' }))
    assert.ok(isStanding([{ tool: 'write_file', ...choice }], files('write_file'), { path: 'reports/2026/may.md' }));
});

test('of calls that were asked about, those are counted that a rule would have let through', () => {
  const calls = ['reports/a.md', 'reports/2026/b.md', 'plan.md', '../x'].map((path) => ({ path, content: 'x' }));
  const counts = ['reports/a.md', 'reports/**', null].map((within) => letThrough(rule('write_file', within), calls));
  assert.deepEqual(counts, [1, 2, 4]);
  assert.equal(letThrough(rule('shell', 'ls', '.'), [{ cmd: 'ls' }, { cmd: 'ls -l' }, { cmd: 'ls', cwd: 'src' }]), 1);
  assert.equal(letThrough(rule('fetch', 'a.example'), [{ url: 'https://a.example/x' }, { url: 'no' }]), 1);
});
