import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askedAs, bestOf, readComparison, sidesOf } from './sides.ts';

test('a comparison begins with two of what is there', () => {
  const agents = [{ id: 'a' }, { id: 'b' }];
  const models = [{ id: 'x' }, { id: 'y' }];
  assert.deepEqual(sidesOf([], agents, models), [
    { agentId: 'a', model: 'x' },
    { agentId: 'a', model: 'y' },
  ]);
  assert.deepEqual(
    sidesOf(
      [
        { agentId: 'gone', model: null },
        { agentId: 'b', model: null },
      ],
      agents,
      models,
    ),
    [
      { agentId: 'b', model: null },
      { agentId: 'a', model: 'y' },
    ],
  );
  assert.deepEqual(sidesOf([], [], models), []);
});

test('the cheapest and the fastest are named when all are done, and only where there is one', () => {
  assert.deepEqual(
    bestOf([
      { costMicros: 5, ms: 10 },
      { costMicros: 3, ms: 10 },
    ]),
    { cheapest: 1, fastest: -1 },
  );
  assert.deepEqual(bestOf([{ costMicros: 5, ms: 10 }, undefined]), { cheapest: -1, fastest: -1 });
});

test('what was kept and is no comparison is none', () => {
  for (const bad of [undefined, 1, 'x', { sides: 1 }, { sides: [null], shown: { sides: [1] } }])
    assert.deepEqual(readComparison(bad), { message: '', sides: [] });
});

test('what is asked again because no answer came is the same comparison; anything else is another', () => {
  let made = 0;
  const makeId = () => `id-${++made}`;
  const sides = [
    { agentId: 'a', model: 'x' },
    { agentId: 'a', model: 'y' },
  ];
  const first = askedAs(undefined, 'Hello', sides, makeId);
  assert.equal(askedAs(first, 'Hello', structuredClone(sides), makeId).id, 'id-1');
  // After a reload, too.
  const left = readComparison(JSON.parse(JSON.stringify({ message: 'Hello', sides, asked: first })));
  assert.equal(askedAs(left.asked, 'Hello', sides, makeId).id, 'id-1');
  assert.equal(askedAs(first, 'Hello!', sides, makeId).id, 'id-2');
  assert.equal(askedAs(first, 'Hello', sides.slice(0, 1), makeId).id, 'id-3');
  assert.deepEqual(readComparison({ asked: { id: 1 } }), { message: '', sides: [] });
});
