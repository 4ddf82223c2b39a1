import assert from 'node:assert/strict';
import { describe, mock, test } from 'node:test';
import type { SessionStep } from '@troupe/contract';
import { createConnection } from './connection.ts';
import type { Connection } from './connection.ts';
import { watchHidden } from './hidden.ts';
import { createLoop } from './loop.ts';
import { createPause, oncePerTurn } from './pause.ts';
import { createWatches } from './watches.ts';

const step = (seq: number) => ({ seq, type: 'user' }) as SessionStep;

describe('the connection', () => {
  const setUp = () => {
    const back = mock.fn();
    const told = mock.fn();
    const connection = createConnection(back);
    const stop = connection.subscribe(told);
    return { back, told, connection, stop };
  };

  test('opens first, and tells whoever listens when it changes', () => {
    const { connection, told, back, stop } = setUp();
    assert.deepEqual(connection.now(), { state: 'opening' });
    connection.become({ state: 'live' });
    assert.deepEqual([connection.now().state, told.mock.callCount(), back.mock.callCount()], ['live', 1, 0]);
    stop();
    connection.become({ state: 'opening' });
    assert.equal(told.mock.callCount(), 1);
  });

  test('is away since the first time, until it is back', () => {
    const { connection, told, back } = setUp();
    connection.become({ state: 'away', since: 5 });
    connection.become({ state: 'away', since: 9 });
    assert.deepEqual(connection.now(), { state: 'away', since: 5 });
    assert.equal(told.mock.callCount(), 1);
    connection.become({ state: 'live' });
    assert.equal(back.mock.callCount(), 1);
  });

  test('that was only opened again was never away', () => {
    const { connection, back } = setUp();
    connection.become({ state: 'live' });
    connection.become({ state: 'opening' });
    connection.become({ state: 'live' });
    assert.equal(back.mock.callCount(), 0);
  });
});

describe('what is watched', () => {
  const listener = () => {
    const heard: string[] = [];
    return {
      heard,
      step: ({ seq }: SessionStep) => void heard.push(`step ${seq}`),
      text: (text: string, fresh: boolean) => void heard.push(fresh ? `new ${text}` : text),
    };
  };

  test('is asked for once, from the earliest step that somebody does not know', () => {
    const watches = createWatches();
    assert.equal(watches.asked(), '');
    watches.add({ agentId: 'a', sessionId: 's', after: 9 }, listener());
    const stop = watches.add({ agentId: 'a', sessionId: 's', after: 3 }, listener());
    watches.add({ agentId: 'b', sessionId: 't', after: 0 }, listener());
    assert.equal(watches.asked(), 'a:s:3,b:t:0');
    stop();
    assert.equal(watches.asked(), 'a:s:9,b:t:0');
  });

  test('hears each step once, however often it comes, and nothing of others', () => {
    const watches = createWatches();
    const [late, early, other] = [listener(), listener(), listener()];
    watches.add({ agentId: 'a', sessionId: 's', after: 2 }, late);
    watches.add({ agentId: 'a', sessionId: 's', after: 0 }, early);
    watches.add({ agentId: 'b', sessionId: 't', after: 0 }, other);
    for (const seq of [1, 2, 3, 3, 2]) watches.take('step', { sessionId: 's', step: step(seq), text: '' });
    assert.deepEqual(late.heard, ['step 3']);
    assert.deepEqual(early.heard, ['step 1', 'step 2', 'step 3']);
    assert.deepEqual(other.heard, []);
    assert.equal(watches.asked(), 'a:s:3,b:t:0');
  });

  test('hears what is being written', () => {
    const watches = createWatches();
    const one = listener();
    const stop = watches.add({ agentId: 'a', sessionId: 's', after: 0 }, one);
    watches.take('delta', { sessionId: 's', step: step(0), text: 'He', fresh: true });
    watches.take('delta', { sessionId: 's', step: step(0), text: 'llo' });
    stop();
    watches.take('delta', { sessionId: 's', step: step(0), text: '!' });
    assert.deepEqual(one.heard, ['new He', 'llo']);
  });
});

describe('a pause', () => {
  test('ends when it is asked to', async () => {
    const pause = createPause();
    pause.end();
    const long = pause.for(1_000_000_000);
    pause.end();
    await long;
  });

  test('several wishes of one turn are one', async () => {
    const work = mock.fn();
    const ask = oncePerTurn(work);
    ask();
    ask();
    assert.equal(work.mock.callCount(), 0);
    await Promise.resolve();
    assert.equal(work.mock.callCount(), 1);
    ask();
    await Promise.resolve();
    assert.equal(work.mock.callCount(), 2);
  });
});

describe('the loop', () => {
  /** Streams and pauses that the test ends by hand, in the order in which they come. */
  function setUp() {
    const waits: number[] = [];
    const arrived: (() => void)[] = [];
    let streams: { signal: AbortSignal; end: () => void; fail: (error: Error) => void }[] = [];
    let endPause = () => {};
    const happened = () => arrived.splice(0).forEach((tell) => tell());
    const connection = createConnection(() => {});
    const failed: unknown[] = [];
    const loop = createLoop({
      connection,
      pause: {
        for: (ms) =>
          new Promise((resolve) => {
            waits.push(ms);
            endPause = resolve;
            happened();
          }),
        end: () => endPause(),
      },
      listen: (signal) =>
        new Promise((resolve, reject) => {
          signal.addEventListener('abort', () => reject(new DOMException('gone', 'AbortError')));
          streams.push({ signal, end: resolve, fail: reject });
          happened();
        }),
      failed: (error) => failed.push(error),
    });
    const next = () => new Promise<void>((resolve) => void arrived.push(resolve));
    const over = new AbortController();
    const states: Connection['state'][] = [];
    connection.subscribe(() => states.push(connection.now().state));
    return {
      loop,
      connection,
      failed,
      waits,
      states,
      next,
      over,
      newest: () => streams.at(-1)!,
      count: () => streams.length,
      wake: () => endPause(),
      stop: () => {
        over.abort();
        loop.reopen();
        streams = [];
      },
    };
  }

  test('waits longer after each failure, ten seconds at the most, and is away at the first', async () => {
    const { loop, next, newest, waits, states, failed, wake, over, stop } = setUp();
    const run = loop.run(over.signal);
    for (let time = 0; time < 7; time += 1) {
      const paused = next();
      newest().fail(new Error(`broken ${time}`));
      await paused;
      const opened = next();
      wake();
      await opened;
    }
    assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
    assert.deepEqual(states, ['away']);
    assert.equal(failed.length, 7);
    stop();
    await run;
  });

  test('opens a stream that broke again before anybody is told', async () => {
    const { loop, connection, next, newest, states, wake, over, stop } = setUp();
    const run = loop.run(over.signal);
    connection.become({ state: 'live' });
    // The first stream began while the connection was opening: the second begins live.
    let paused = next();
    newest().end();
    await paused;
    let opened = next();
    wake();
    await opened;
    paused = next();
    newest().fail(new Error('broken'));
    await paused;
    assert.deepEqual(states, ['live', 'opening']);
    opened = next();
    wake();
    await opened;
    paused = next();
    newest().fail(new Error('broken again'));
    await paused;
    assert.deepEqual(states, ['live', 'opening', 'away']);
    stop();
    await run;
  });

  test('opens another stream at once when it is asked to, and calls nothing a failure', async () => {
    const { loop, next, newest, count, waits, failed, over, stop } = setUp();
    const run = loop.run(over.signal);
    const first = newest();
    const opened = next();
    loop.reopen();
    await opened;
    assert.deepEqual([count(), first.signal.aborted, waits, failed], [2, true, [], []]);
    stop();
    await run;
  });

  test('begins with a short pause again after a stream that went well', async () => {
    const { loop, next, newest, waits, wake, over, stop } = setUp();
    const run = loop.run(over.signal);
    for (const end of ['fail', 'fail', 'end'] as const) {
      const paused = next();
      if (end === 'end') newest().end();
      else newest().fail(new Error('broken'));
      await paused;
      const opened = next();
      wake();
      await opened;
    }
    assert.deepEqual(waits, [500, 1000, 500]);
    stop();
    await run;
  });

  test('has no stream while it rests', async () => {
    const { loop, next, newest, count, over, stop } = setUp();
    const run = loop.run(over.signal);
    const resting = next();
    loop.rest(true);
    await resting;
    assert.deepEqual([count(), newest().signal.aborted], [1, true]);
    const opened = next();
    loop.rest(false);
    await opened;
    assert.equal(count(), 2);
    stop();
    await run;
  });
});

describe('a tab that is hidden', () => {
  function setUp() {
    const place = Object.assign(new EventTarget(), { hidden: false });
    const told: string[] = [];
    const stop = watchHidden(place as unknown as Document, {
      hidden: () => told.push('hidden'),
      seen: () => told.push('seen'),
    });
    const turn = (hidden: boolean) => {
      place.hidden = hidden;
      place.dispatchEvent(new Event('visibilitychange'));
    };
    return { told, stop, turn };
  }

  test('lets go after a minute, and comes back when it is seen', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { told, turn } = setUp();
    turn(true);
    t.mock.timers.tick(59_999);
    assert.deepEqual(told, []);
    t.mock.timers.tick(1);
    assert.deepEqual(told, ['hidden']);
    turn(false);
    assert.deepEqual(told, ['hidden', 'seen']);
  });

  test('for a moment is nothing, and after the end nothing is told', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { told, turn, stop } = setUp();
    turn(true);
    turn(false);
    t.mock.timers.tick(100_000);
    turn(true);
    stop();
    t.mock.timers.tick(100_000);
    assert.deepEqual(told, []);
  });
});
