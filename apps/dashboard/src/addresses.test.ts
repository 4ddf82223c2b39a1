import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADDRESSES, ledBy } from './addresses.ts';
import { SIGNED_IN } from './pages.ts';

test('each leads to a page, and none hides one', () => {
  const pages = new Set(SIGNED_IN.map(([path]) => path));
  for (const [path, to] of ADDRESSES) {
    const led = to({ id: 'one', session: 'two' }, {}).to;
    const isOne = led === '/dashboard/agents/one' || led === '/dashboard/runs/!one~!two';
    assert.ok(pages.has(led) || isOne, `${path} leads to ${led}`);
    assert.ok(!pages.has(path), path);
  }
  assert.equal(new Set(ADDRESSES.map(([path]) => path)).size, ADDRESSES.length);
});

test('what they name goes along', () => {
  const to = '/dashboard/agents/a1';
  assert.deepEqual(ledBy(`${to}/talk/c1`), { to, search: { tab: 'chat', c: 'c1' } });
  assert.deepEqual(ledBy(`${to}/files/reports/may/plan.md`), {
    to,
    search: { tab: 'files', folder: 'reports/may', file: 'reports/may/plan.md' },
  });
  assert.deepEqual(ledBy(`${to}/files/plan%20b.md`), { to, search: { tab: 'files', file: 'plan b.md' } });
  assert.deepEqual(ledBy(`${to}/files/`), { to, search: { tab: 'files' } });
  assert.deepEqual(ledBy(`${to}/settings/backups`), { to, search: { tab: 'settings', part: 'backups' } });
  assert.deepEqual(ledBy('/dashboard/admin/people'), { to: '/dashboard/admin', search: { tab: 'users' } });
});

test('a run below its agent has an address of its own, with the step that it begins with', () => {
  const led = ledBy('/dashboard/agents/a1/runs/s1', { run: 12, step: 14 });
  assert.deepEqual(led, { to: '/dashboard/runs/!a1~!s1~12', search: { run: undefined } });
  for (const run of [undefined, 'x', '', 0])
    assert.equal(ledBy('/dashboard/agents/a1/runs/s1', { run })?.to, '/dashboard/runs/!a1~!s1');
});

test('others lead nowhere, whatever they are made of', () => {
  const others = ['/dashboard/nowhere/at/all', '/dashboard/agents/a1/other', '/dashboard/money/cost/more', '/', '/%'];
  for (const path of others) assert.equal(ledBy(path), undefined);
});
