import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedFields } from '../../../diff.ts';
import { begun, onto, parsedOf } from './use-config-draft.ts';

const RULE = { tool: 'write_file', within: null };
const loaded = { safety: { standing: [RULE], approvals: { filesystem: 'ask' } }, memory: { ttlDays: 30 } };
const without = { ...loaded, safety: { ...loaded.safety, standing: [] } };

test('a rule that was taken away elsewhere stays away, and what was changed here stays changed', () => {
  const mine = { ...begun(loaded), draft: { ...loaded, memory: { ttlDays: 7 } } };
  // Not known of yet: it is not sent back either.
  assert.deepEqual(changedFields(mine.base, parsedOf(mine)!), { memory: { ttlDays: 7 } });
  const next = onto(mine, without);
  assert.deepEqual(next.draft, { ...without, memory: { ttlDays: 7 } });
  assert.deepEqual(changedFields(next.base, parsedOf(next)!), { memory: { ttlDays: 7 } });
  assert.deepEqual(JSON.parse(next.text), next.draft);
});

test('a text that is no configuration is left as it is', () => {
  const mine = { ...begun(loaded), view: 'json' as const, text: '{ half' };
  assert.equal(parsedOf(mine), undefined);
  assert.deepEqual(onto(mine, without), mine);
});
