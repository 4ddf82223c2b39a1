import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { approvalFor, newDefinition } from './agent-definition.ts';
import { permissionFor, permissionsSchema, type CalledTool, type Permissions } from './permissions.ts';

const SHELL: CalledTool = { name: 'shell', toolset: 'shell', takes: ['cmd', 'cwd', 'timeout'] };
const WRITE: CalledTool = { name: 'write_file', toolset: 'filesystem', takes: ['path', 'content'] };
const mcp = (offeredAs: string, toolset = 'github'): CalledTool => ({
  name: `${toolset}_${offeredAs}`,
  toolset,
  offeredAs,
});

const said = (given: object, tool: CalledTool, args: Record<string, unknown> | undefined = {}) =>
  permissionFor(permissionsSchema.parse(given), tool, args);

test('a command is allowed when it is one command that a pattern fits', () => {
  const given = { allow: ['shell:cmd=git status*', 'shell:cmd=ls *', 'shell:cmd=pwd'] };
  for (const cmd of ['git status', 'git status -s', 'ls -la src', 'pwd'])
    assert.equal(said(given, SHELL, { cmd }), 'allow', cmd);
  for (const cmd of [
    'git statu',
    'git push',
    'ls',
    'pwd -P',
    'ls -la; rm -rf /',
    'ls $(rm -rf /)',
    'ls `rm x`',
    'ls a && rm b',
    'ls | sh',
    'ls > /etc/passwd',
    'ls a\nrm b',
    'ls & rm b',
    'LS -la',
  ])
    assert.equal(said(given, SHELL, { cmd }), undefined, cmd);
  assert.equal(said(given, SHELL, undefined), undefined);
  assert.equal(said(given, SHELL, { cmd: ['ls -la'] }), undefined);
  assert.equal(said({ allow: ['shell'] }, SHELL, { cmd: 'a; b' }), 'allow');
});

test('what is denied is denied wherever it stands in a command', () => {
  const given = { allow: ['shell'], deny: ['shell:cmd=rm *', 'shell:cmd=sudo*'] };
  for (const cmd of [
    'rm -rf /',
    'cd x && rm y',
    'echo `rm y`',
    'true;rm y',
    'a |  rm   y',
    'RM y',
    '$(sudo id)',
    'a\nrm b',
  ])
    assert.equal(said(given, SHELL, { cmd }), 'deny', cmd);
  for (const cmd of ['ls', 'echo alarm', 'npm run rm']) assert.equal(said(given, SHELL, { cmd }), 'allow', cmd);
});

test('deny comes before allow, allow before ask; arguments that a tool does not have forbid, and never allow', () => {
  assert.equal(said({ allow: ['*'], deny: ['write_*'] }, WRITE), 'deny');
  assert.equal(said({ allow: ['write_file:path=docs/*'], ask: ['write_file'] }, WRITE, { path: 'docs/a.md' }), 'allow');
  assert.equal(said({ allow: ['write_file:path=docs/*'], ask: ['write_file'] }, WRITE, { path: 'a.md' }), 'ask');
  assert.equal(said({ deny: ['write_file:file=/etc/*'] }, WRITE, { path: '/etc/passwd' }), 'deny');
  assert.equal(said({ allow: ['write_file:file=*'] }, WRITE, { path: '/etc/passwd' }), undefined);
  assert.equal(said({ allow: ['write_file:path=src/*.ts'] }, WRITE, { path: 'src/a/../../b.ts' }), undefined);
  assert.equal(said({ allow: ['write_file:path=src/*.ts'] }, WRITE, { path: 'src/b.ts' }), 'allow');
  assert.equal(said({ deny: ['write_file:path=src/*.ts'] }, WRITE, { path: 'src/a/b.ts' }), 'deny');
  assert.equal(said({ deny: ['write_file:path=C:/*'] }, WRITE, { path: 'c:/x' }), 'deny');
});

test('tools of servers are named by themselves or with their server, and gain nothing by a borrowed name', () => {
  assert.equal(said({ allow: ['mcp:github:get_*'] }, mcp('get_issue')), 'allow');
  assert.equal(said({ allow: ['mcp:github:get_*'] }, mcp('get_issue', 'other')), undefined);
  assert.equal(said({ allow: ['go_diagnostics'] }, mcp('go_diagnostics', 'mcp1')), 'allow');
  assert.equal(said({ allow: ['read_file', 'shell'] }, mcp('read_file')), undefined);
  assert.equal(said({ deny: ['read_file'] }, mcp('read_file')), 'deny');
});

test('with permissions, what acts and is not named is asked about; the owner’s rules make it stricter, or name it', () => {
  const definition = (approvals: Record<string, 'allow' | 'ask' | 'deny'> = {}) =>
    newDefinition({ name: 'A', permissions: { allow: ['shell:cmd=ls*'], deny: ['delete_file'] }, approvals });
  const rule = (tool: CalledTool, args = {}, approvals = {}) => approvalFor(definition(approvals), tool, args);
  const own = (name: string, toolset: string): CalledTool => ({ name, toolset });
  assert.equal(rule(WRITE), 'ask');
  assert.equal(rule(own('read_file', 'filesystem')), 'allow');
  assert.equal(rule(mcp('get_issue')), 'ask');
  assert.equal(rule(SHELL, { cmd: 'ls -l' }), 'allow');
  assert.equal(rule(SHELL, { cmd: 'ls -l' }, { shell: 'deny' }), 'deny');
  assert.equal(rule(SHELL, { cmd: 'ls -l' }, { '*': 'ask' }), 'ask');
  assert.equal(rule(WRITE, {}, { write_file: 'allow' }), 'allow');
  assert.equal(rule(WRITE, {}, { '*': 'allow' }), 'ask');
  assert.equal(rule(own('delete_file', 'filesystem'), {}, { delete_file: 'allow' }), 'deny');
  assert.equal(approvalFor(newDefinition({ name: 'A' }), WRITE, {}), 'allow');
});

test('a pattern of many wildcards and a long text are answered at once', () => {
  const many = { deny: Array.from({ length: 100 }, () => `shell:cmd=${'*a'.repeat(100)}b`) };
  assert.equal(said(many, SHELL, { cmd: 'a'.repeat(1900) }), undefined);
  assert.equal(said(many, SHELL, { cmd: 'a'.repeat(100_000) }), 'deny');
});

test('many parts and many patterns: what would take long to search is not allowed, and is caught by what forbids', () => {
  const patterns = Array.from({ length: 100 }, (_, n) => `shell:cmd=*x${n}*y?z*`);
  const parts = Array.from({ length: 500 }, (_, n) => n.toString(36)).join(';');
  const began = process.cpuUsage().user;
  for (let call = 0; call < 64; call += 1) {
    assert.equal(said({ deny: patterns, ask: patterns }, SHELL, { cmd: ';'.repeat(2000) }), undefined);
    assert.equal(said({ allow: patterns }, SHELL, { cmd: parts }), undefined);
    assert.equal(said({ deny: patterns }, SHELL, { cmd: parts }), 'deny');
  }
  // It took 15 s.
  assert.ok(process.cpuUsage().user - began < 2_000_000);
});

describe('what is written otherwise', () => {
  const rule = (patterns: Partial<Permissions>, tool: string, args: Record<string, unknown>) =>
    permissionFor(
      { allow: [], ask: [], deny: [], ...patterns },
      { name: tool, toolset: tool === 'write_file' ? 'filesystem' : tool, takes: Object.keys(args) },
      args,
    );

  test('is denied all the same', () => {
    for (const path of ['secrets/a', './secrets/a', 'x/../secrets/a', 'x//../secrets/./a', '/secrets/a', 'Secrets/a'])
      assert.equal(rule({ deny: ['write_file:path=secrets/*'], allow: ['*'] }, 'write_file', { path }), 'deny', path);
    for (const url of [
      'http://evil.test/',
      'HTTP:\\\\evil.test/x',
      ' http://evil.test',
      'http:/evil.test',
      'http://ev%69l.test/',
    ])
      assert.equal(rule({ deny: ['fetch:url=http://evil.test*'], allow: ['*'] }, 'fetch', { url }), 'deny', url);
    for (const url of [`http://e${'\t'.repeat(500)}vil.test/`, `http://${'a'.repeat(500)}@evil.test/`, 'http://['])
      assert.equal(rule({ deny: ['fetch:url=http://evil.test*'], allow: ['*'] }, 'fetch', { url }), 'deny', url);
    for (const url of ['http://a@evil.test', 'http://evil\t.test/', `\u0000http:evil.test/`])
      assert.equal(rule({ deny: ['fetch:url=http://evil.test'], allow: ['*'] }, 'fetch', { url }), 'deny', url);
    for (const cmd of [
      '/usr/bin/curl x',
      'c""url x',
      "c'u'rl x",
      '\\curl x',
      'env A=1 curl x',
      'sudo -E curl x',
      'A=1 timeout 5 curl x',
    ])
      assert.equal(rule({ deny: ['shell:cmd=curl *'], allow: ['*'] }, 'shell', { cmd }), 'deny', cmd);
    assert.equal(rule({ deny: ['shell:cmd=curl *'], allow: ['*'] }, 'shell', { cmd: 'echo curl x' }), 'allow');
  });

  test('is looked for once, however many patterns there are', () => {
    const patterns = Array.from({ length: 100 }, (_, n) => `fetch:url=http://${n}.test*`);
    const url = `http://${'ü'.repeat(1990)}`;
    const began = process.cpuUsage().user;
    for (let call = 0; call < 64; call += 1) rule({ deny: patterns, ask: patterns, allow: patterns }, 'fetch', { url });
    // It took as long for each of the patterns.
    assert.ok(process.cpuUsage().user - began < 2_000_000);
  });

  test('is not allowed by a pattern that means another place', () => {
    const folder = { allow: ['write_file:path=docs/*'], ask: ['*'] };
    assert.equal(rule(folder, 'write_file', { path: 'docs/a' }), 'allow');
    for (const path of [
      'docs/../secrets/a',
      'docs/x/../../secrets/a',
      `docs/${'./'.repeat(1500)}../secrets/a`,
      'docs/..',
    ])
      assert.equal(rule(folder, 'write_file', { path }), 'ask', path.slice(0, 40));
    const hosts = { allow: ['fetch:url=https://*.ours.example/*', 'fetch:url=https://one.example'], ask: ['*'] };
    for (const url of ['https://www.ours.example/a?b#c', 'https://one.example'])
      assert.equal(rule(hosts, 'fetch', { url }), 'allow', url);
    for (const url of [
      'https://evil.example?.ours.example/',
      'https://evil.example#.ours.example/',
      'https://evil.example\\.ours.example/',
    ])
      assert.equal(rule(hosts, 'fetch', { url }), 'ask', url);
  });
});
