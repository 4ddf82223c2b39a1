import { renameSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Loaded before a service that is measured: on SIGUSR2 garbage is collected, and what is left goes into the file BENCH_HELD.
 * The service takes as many connections as with the 65,536 files that docs/operating.md asks for, also where a process may
 * not have that many: it needs one for each.
 */

const file = process.env['BENCH_HELD'] ?? '';
const FILES = 65_536;
const ROUNDS = 5;
const PAUSE_MS = 200;

const getReport = process.report.getReport.bind(process.report);
process.report.getReport = () => ({ ...getReport(), userLimits: { open_files: { soft: FILES, hard: FILES } } });

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function measure(left: number): void {
  collect();
  if (left > 0) return void setTimeout(measure, PAUSE_MS, left - 1);
  const { heapUsed, external, rss } = process.memoryUsage();
  writeFileSync(`${file}.new`, JSON.stringify({ heap: heapUsed + external, rss }));
  renameSync(`${file}.new`, file);
}
process.on('SIGUSR2', () => measure(ROUNDS));
