import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Linked } from './linked.ts';

test('members are kept in the order of coming, and leave from anywhere', () => {
  const list = new Linked<{ name: string }>();
  const [first, second, third] = ['a', 'b', 'c'].map((name) => list.add({ name }));
  const names = () => list.values().map(({ name }) => name);
  assert.deepEqual(names(), ['a', 'b', 'c']);
  list.delete(second!);
  assert.deepEqual([names(), list.first()?.name, list.size], [['a', 'c'], 'a', 2]);
  list.delete(first!);
  list.add({ name: 'd' });
  assert.deepEqual([names(), list.first()?.name, list.size], [['c', 'd'], 'c', 2]);
  list.delete(third!);
  assert.deepEqual([names(), list.size], [['d'], 1]);
});

test('leaving twice is leaving once, and whoever has left points to nobody', () => {
  const list = new Linked<object>();
  const places = [list.add({}), list.add({}), list.add({})];
  for (const place of [...places, ...places]) list.delete(place);
  assert.deepEqual([list.size, list.first(), list.values()], [0, undefined, []]);
  for (const place of places) assert.deepEqual(Object.values(place), [undefined, undefined, undefined]);
});
