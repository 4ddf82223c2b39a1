import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inTurn, type TestEvent } from './test-runs.ts';

const told = (message: string): TestEvent => ({ type: 'test:diagnostic', data: { nesting: 0, message } });
const passed = (name: string): TestEvent => ({ type: 'test:pass', data: { name, nesting: 0, file: name } });
const summary: TestEvent = { type: 'test:summary', data: {} };

async function* events(all: readonly TestEvent[]): AsyncGenerator<TestEvent> {
  yield* all;
}

test('two runs have one summary, at the end, with the sums; what a test says of itself stays where it is', async () => {
  const ends: string[] = [];
  const all: TestEvent[] = [];
  const runs = [
    [
      passed('a'),
      { type: 'test:diagnostic', data: { nesting: 1, message: 'tests 7' } },
      told('tests 2'),
      told('fail 0'),
    ],
    [passed('b'), told('a remark'), told('tests 3'), told('fail 1'), told('duration_ms 1.5')],
  ].map((run, index) => () => {
    ends.push(`${index} begins after ${all.length}`);
    return events([...run, { type: 'test:summary', data: { file: 'a' } }, summary]);
  });
  for await (const event of inTurn(runs)) all.push(event);
  assert.deepEqual(ends, ['0 begins after 0', '1 begins after 3']);
  assert.deepEqual(
    all.map(({ type, data }) => data.name ?? data.message ?? `${type} ${data.file ?? ''}`.trim()),
    [
      'a',
      'tests 7',
      'test:summary a',
      'b',
      'a remark',
      'test:summary a',
      'tests 5',
      'fail 1',
      'duration_ms 1.5',
      'test:summary',
    ],
  );
});
