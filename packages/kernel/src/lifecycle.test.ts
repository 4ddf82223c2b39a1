import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { createFaults } from './faults.ts';
import { createLog } from './log.ts';
import { createMetrics } from './metrics.ts';

const LIFECYCLE = JSON.stringify(path.join(import.meta.dirname, 'lifecycle.ts'));

/** A program of its own: its faults would be the test's. It does what a line on its input says. */
function program(t: TestContext, beforeReady = '') {
  const source = `
    import { createInterface } from 'node:readline';
    const { runUntilSignal } = await import(${LIFECYCLE});
    const acts = {
      reject: () => void Promise.reject(new Error('lost at https://user:pass@example.org/bot123:abc?token=hush')),
      reset: () => { throw Object.assign(new Error('read'), { code: 'ECONNRESET' }); },
      status: () => { throw Object.assign(new RangeError('Invalid status code: 0'), { code: 'ERR_HTTP_INVALID_STATUS_CODE' }); },
      type: () => { undefined.x; },
      old: () => { process.uptime = () => 3600; },
      ping: () => console.log('pong'),
    };
    createInterface({ input: process.stdin }).on('line', (line) => setImmediate(acts[line]));
    await runUntilSignal(async ({ own, comesBack }) => {
      ${beforeReady}
      own({ close: async () => console.log('closed', comesBack()) });
      console.log('ready');
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['pipe', 'pipe', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const exit = once(child, 'close').then(([code]) => code as number);
  const says = async (words: string): Promise<void> => {
    while (!output.includes(words)) {
      const ended = await Promise.race([once(child.stdout, 'data'), exit.then(() => 'ended')]);
      if (ended === 'ended' && !output.includes(words)) throw new Error(`ended:\n${output}`);
    }
  };
  const act = (...names: string[]): void => void child.stdin.write(`${names.join('\n')}\n`);
  return { child, act, says, exit, output: () => output };
}

describe('a fault belongs to one run', () => {
  for (const kind of ['reject', 'reset', 'status'])
    test(`${kind}: the program goes on`, async (t) => {
      const { act, says, child, exit } = program(t);
      await says('ready');
      act(kind, 'ping');
      await says('pong');
      child.kill('SIGTERM');
      assert.equal(await exit, 0);
    });

  test('it is said once, with its place and without secrets', async (t) => {
    const { act, says, output } = program(t);
    await says('ready');
    act('reject', 'reject', 'reject', 'ping');
    await says('pong');
    await says('nobody awaited this');
    const lines = output()
      .split('\n')
      .filter((line) => line.includes('nobody awaited this'));
    assert.equal(lines.length, 1, output());
    const line = JSON.parse(lines[0] ?? '') as { err: { message: string; stack: string } };
    assert.match(line.err.stack, /at .*:\d+:\d+/);
    assert.equal(line.err.message, 'lost at https://[redacted]@example.org/bot[redacted]?token=[redacted]');
  });

  test('an error that nobody knows: the program goes on, and is replaced when it is old enough', async (t) => {
    const { act, says, output } = program(t);
    await says('ready');
    act('type');
    await says('hand its work over');
    assert.match(output(), /"inSeconds":\d{3},/);
    act('ping');
    await says('pong');
    assert.doesNotMatch(output(), /closed/);

    const old = program(t);
    await old.says('ready');
    old.act('old', 'type');
    assert.equal(await old.exit, 70);
    assert.match(old.output(), /closed true/);
  });

  test('while it starts, an error that nobody caught ends it with 1', async (t) => {
    const { exit } = program(t, 'setImmediate(() => undefined.x); await new Promise((go) => setTimeout(go, 50));');
    assert.equal(await exit, 1);
  });
});

test('faults are counted by every service of the process', async () => {
  const lines: string[] = [];
  const log = createLog({ level: 'error', service: 'test', destination: { write: (line) => void lines.push(line) } });
  const services = [createMetrics(), createMetrics()];
  let now = 0;
  const faults = createFaults({ log, now: () => now });
  const fault = new Error('x');
  assert.equal(faults.seen('rejection', fault), true);
  assert.equal(faults.seen('rejection', fault), true);
  assert.equal(faults.seen('exception', fault), false);
  now = 61_000;
  faults.seen('rejection', fault);
  for (const metrics of services) {
    assert.match(await metrics.text(), /^unhandled_faults_total\{kind="rejection"\} 3$/m);
    assert.match(await metrics.text(), /^unhandled_faults_total\{kind="exception"\} 1$/m);
    metrics.close();
  }
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { unsaid: number }).unsaid),
    [0, 0, 1],
  );
});
