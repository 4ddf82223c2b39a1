import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADDRESSES } from './addresses.ts';
import { SIGNED_IN } from './pages.ts';

const lead = (path: string, params: Record<string, string> = {}) =>
  ADDRESSES.find(([known]) => known === path)?.[1](params);

test('each leads to a page, and none hides one', () => {
  const pages = new Set(SIGNED_IN.map(([path]) => path));
  for (const [path, to] of ADDRESSES) {
    const led = to({ id: 'one' }).to;
    assert.ok(pages.has(led) || led === '/dashboard/agents/one', `${path} leads to ${led}`);
    assert.ok(!pages.has(path), path);
  }
  assert.equal(new Set(ADDRESSES.map(([path]) => path)).size, ADDRESSES.length);
});

test('what they name goes along', () => {
  const agent = '/dashboard/agents/a1';
  assert.deepEqual(lead('/dashboard/agents/$id/talk/$conversation', { id: 'a1', conversation: 'c1' }), {
    to: agent,
    search: { tab: 'chat', c: 'c1' },
  });
  assert.deepEqual(lead('/dashboard/agents/$id/files/$', { id: 'a1', _splat: 'reports/may/plan.md' }), {
    to: agent,
    search: { tab: 'files', folder: 'reports/may', file: 'reports/may/plan.md' },
  });
  assert.deepEqual(lead('/dashboard/agents/$id/files/$', { id: 'a1', _splat: 'plan.md' }), {
    to: agent,
    search: { tab: 'files', file: 'plan.md' },
  });
  assert.deepEqual(lead('/dashboard/agents/$id/settings/$part', { id: 'a1', part: 'backups' }), {
    to: agent,
    search: { tab: 'settings', part: 'backups' },
  });
  assert.deepEqual(lead('/dashboard/admin/people'), { to: '/dashboard/admin', search: { tab: 'users' } });
});
