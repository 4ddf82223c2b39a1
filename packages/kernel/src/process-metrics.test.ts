import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from './metrics.ts';
import { textOfAll, together } from './process-metrics.ts';

const text = (calls: number): string =>
  [
    '# HELP calls_total Calls',
    '# TYPE calls_total counter',
    `calls_total{route="/a"} ${calls}`,
    `calls_total{route="/b{x=1} y"} 1`,
    '# HELP open Open',
    '# TYPE open gauge',
    `open ${calls}`,
    '',
  ].join('\n');

test('figures of several processes stand by name, each with its process', () => {
  const late = '# HELP late Only one has it\n# TYPE late gauge\nlate 7\n';
  assert.deepEqual(
    together([
      { process: 1, text: text(3) },
      { process: 2, text: text(4) + late },
      { process: 3, text: '' },
    ]).split('\n'),
    [
      '# HELP calls_total Calls',
      '# TYPE calls_total counter',
      'calls_total{process="1",route="/a"} 3',
      'calls_total{process="1",route="/b{x=1} y"} 1',
      'calls_total{process="2",route="/a"} 4',
      'calls_total{process="2",route="/b{x=1} y"} 1',
      '# HELP open Open',
      '# TYPE open gauge',
      'open{process="1"} 3',
      'open{process="2"} 4',
      '# HELP late Only one has it',
      '# TYPE late gauge',
      'late{process="2"} 7',
      '',
    ],
  );
});

test('one alone tells its own figures', async (t) => {
  const metrics = createMetrics();
  t.after(metrics.close);
  metrics.counter('calls_total', 'Calls', {})();
  assert.match(await textOfAll(metrics), /^calls_total 1$/m);
});
