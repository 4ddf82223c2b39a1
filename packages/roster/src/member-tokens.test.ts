import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memberOf, memberToken } from './member-tokens.ts';

test('a member’s token names the agent and its generation, and only the platform makes it', () => {
  for (const generation of [0, 1, 12]) {
    const token = memberToken('secret', 'ada', generation);
    assert.deepEqual(memberOf('secret', token), { agentId: 'ada', generation });
    assert.equal(memberOf('other', token), undefined);
  }
});

test('no generation is told as another, and none of the first as a later one', () => {
  const [first, second] = [memberToken('secret', 'ada'), memberToken('secret', 'ada', 1)];
  assert.match(first, /^mbr_ada\.[0-9a-f]{64}$/, 'as containers have it that were made before there were generations');
  for (const forged of [
    second.replace('.1.', '.'),
    second.replace('.1.', '.2.'),
    second.replace('.1.', '.01.'),
    first.replace('ada.', 'ada.0.'),
    first.replace('ada.', 'ada.1.'),
    first.replace('ada', 'bob'),
    'mbr_',
    'mbr_ada.',
    '',
  ])
    assert.equal(memberOf('secret', forged), undefined, forged);
});
