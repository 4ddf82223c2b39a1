import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newDefinition } from '@troupe/domain';
import { counter } from '../testing.ts';
import { shortened, toon } from './toon.ts';

test('names of fields stand once for a list; what would be misread is quoted', () => {
  const given = {
    total: 2,
    tags: ['a', 'b,c', '', '7'],
    issues: [
      { id: 1, title: 'One: two', open: true },
      { id: 2, title: 'plain words', open: null },
    ],
    nested: { deep: { list: [[1, 2], { a: 'x' }] } },
  };
  assert.equal(
    toon(JSON.stringify(given)),
    [
      'total: 2',
      'tags[4]: a,"b,c","","7"',
      'issues[2]{id,title,open}:',
      '  1,"One: two",true',
      '  2,plain words,null',
      'nested:',
      '  deep:',
      '    list[2]:',
      '      - [2]: 1,2',
      '      -',
      '        a: x',
    ].join('\n'),
  );
  assert.ok(
    toon(JSON.stringify(Array(50).fill(given.issues[0]))).length <
      JSON.stringify(Array(50).fill(given.issues[0])).length * 0.6,
  );
});

test('no JSON stays as it is, however deep, large or broken', () => {
  for (const text of ['plain', '{broken', '12', '['.repeat(20_000), '['.repeat(20_000) + ']'.repeat(20_000)])
    assert.equal(typeof toon(text), 'string');
  assert.equal(toon('{broken'), '{broken');
  const large = JSON.stringify(['x'.repeat(600_000)]);
  assert.equal(toon(large), large);
});

test('only tools that the definition names', async () => {
  const { tool } = counter('srv');
  const json = { ...tool, run: async () => ({ content: '{"a":1}' }) };
  const answer = async (patterns: Record<string, string[]>) => {
    const [one] = shortened(newDefinition({ name: 'A', traits: { toon: patterns } }), [json]);
    return (await one!.run({}, {} as never)).content;
  };
  assert.equal(await answer({ srv: ['*'] }), 'a: 1');
  assert.equal(await answer({ srv: ['cou*'] }), 'a: 1');
  assert.equal(await answer({ srv: ['other'] }), '{"a":1}');
  assert.equal(await answer({ other: ['*'] }), '{"a":1}');
});
