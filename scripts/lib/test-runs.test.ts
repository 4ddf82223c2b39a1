import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { asOne, inLanes, type Job, type TestEvent } from './test-runs.ts';

const told = (message: string): TestEvent => ({ type: 'test:diagnostic', data: { nesting: 0, message } });
const passed = (name: string): TestEvent => ({ type: 'test:pass', data: { name, nesting: 0, file: name } });
const summary: TestEvent = { type: 'test:summary', data: {} };

async function* events(all: readonly TestEvent[]): AsyncGenerator<TestEvent> {
  yield* all;
}

test('two runs have one summary, at the end, with the sums; what a test says of itself stays where it is', async () => {
  const all: TestEvent[] = [];
  const runs = [
    [
      passed('a'),
      { type: 'test:diagnostic', data: { nesting: 1, message: 'tests 7' } },
      told('tests 2'),
      told('fail 0'),
    ],
    [passed('b'), told('a remark'), told('tests 3'), told('fail 1')],
  ].map((run) => events([...run, { type: 'test:summary', data: { file: 'a' } }, summary]));
  for await (const event of asOne(runs)) all.push(event);
  assert.deepEqual(
    all.map(({ type, data }) => data.name ?? data.message ?? `${type} ${data.file ?? ''}`.trim()),
    ['a', 'tests 7', 'test:summary a', 'b', 'a remark', 'test:summary a', 'tests 5', 'fail 1', 'test:summary'],
  );
});

test('how long it took is the time that passed, not that of all files', async () => {
  const all: TestEvent[] = [];
  for await (const event of asOne([events([told('duration_ms 1e9')]), events([told('duration_ms 60000')])]))
    all.push(event);
  const took = Number(all.at(-1)?.data.message?.replace('duration_ms ', ''));
  assert.ok(took > 0 && took < 10_000, `${took}`);
});

function gated() {
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const began: string[] = [];
  const job = (file: string, given: Partial<Job> = {}): Job => ({
    file,
    ...given,
    begin: async function* () {
      began.push(file);
      const gate = Promise.withResolvers<void>();
      gates.set(file, gate);
      yield passed(`${file} 1`);
      await gate.promise;
      yield passed(`${file} 2`);
    },
  });
  const end = async (file: string) => {
    gates.get(file)?.resolve();
    await new Promise(setImmediate);
  };
  return { began, job, end };
}

test('files run in their order, as many as there are lanes, of a kind one, and each is told as a whole', async () => {
  const { began, job, end } = gated();
  const browser = { kind: 'browser' };
  const heard: string[] = [];
  const over = (async () => {
    const jobs = [job('a', browser), job('b', browser), job('c'), job('d', { kind: 'containers' }), job('e')];
    for await (const { data } of inLanes(jobs, { least: 3 })) heard.push(`${data.ran} ${data.name}`);
  })();
  await new Promise(setImmediate);
  assert.deepEqual(began, ['a', 'c', 'd']);
  await end('c');
  assert.deepEqual(began, ['a', 'c', 'd', 'e']);
  await end('a');
  assert.deepEqual(began, ['a', 'c', 'd', 'e', 'b']);
  for (const file of ['b', 'e', 'd']) await end(file);
  await over;
  assert.deepEqual(
    heard,
    ['c', 'a', 'b', 'e', 'd'].flatMap((file) => [`${file} ${file} 1`, `${file} ${file} 2`]),
  );
});

test('while a core is idle one more begins at each look, up to a bound, and of a kind two', async () => {
  const { began, job, end } = gated();
  let [free, looks] = [0, 0];
  const idle = () => {
    looks += 1;
    return free;
  };
  const until = async (done: () => boolean) => {
    while (!done()) await delay(1);
  };
  const kind = 'browser';
  const jobs = [...['a', 'b', 'c'].map((file) => job(file, { kind })), job('d'), job('e', { kind: 'containers' })];
  const over = (async () => {
    for await (const _ of inLanes(jobs, { least: 1, most: 4, idle, everyMs: 2 }));
  })();
  await until(() => looks > 2);
  assert.equal(began.join(''), 'a', 'no core is idle');
  free = 1;
  await until(() => began.length === 4);
  await delay(20);
  assert.equal(began.join(''), 'adeb', 'four at most, two of a kind where there is nothing else');
  free = 0;
  for (const file of ['a', 'b', 'd', 'e']) await end(file);
  assert.equal(began.join(''), 'adebc', 'one in any case');
  await end('c');
  await over;
});

test('what is kept back is not told', async () => {
  const heard: string[] = [];
  const jobs = ['a', 'b'].map((file): Job => ({ file, begin: () => events([passed(file)]) }));
  for await (const { data } of inLanes(jobs, { least: 1, ended: ({ file }) => file === 'a' })) heard.push(data.name!);
  assert.deepEqual(heard, ['b']);
});
