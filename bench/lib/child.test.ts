import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const CHILD = new URL('child.ts', import.meta.url).href;

const lives = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  test(`what a bench has started ends with it on ${signal}`, { timeout: 20_000 }, async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'troupe-bench-'));
    const service = path.join(folder, 'service.mjs');
    // It heeds no signal, as a service that hangs.
    writeFileSync(
      service,
      `process.on('SIGTERM', () => {}); process.on('SIGINT', () => {}); setInterval(() => {}, 1000);
       console.log(JSON.stringify({ address: String(process.pid) }));`,
    );
    const at = JSON.stringify(pathToFileURL(service).href);
    const program = `
      import { startService } from ${JSON.stringify(CHILD)};
      const { address } = await startService(new URL(${at}), {});
      console.log(address);
      setInterval(() => {}, 1000);`;
    const bench = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [line] = (await once(createInterface({ input: bench.stdout }), 'line')) as [string];
      const pid = Number(line);
      assert.ok(lives(pid));
      bench.kill(signal);
      await once(bench, 'exit');
      assert.equal(bench.exitCode, signal === 'SIGTERM' ? 143 : 130);
      while (lives(pid)) await delay(20);
    } finally {
      bench.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    }
  });
