import { finish, printTable } from '../lib/report.ts';
import { against, median } from '../lib/sides.ts';
import { CALLER, CHAT, cpuInTurns, inTurns, startBackend, startUpstream } from './setup.ts';

/** Chat through two backends that differ in one setting: where traces are sent to, and nowhere. */

export async function benchTraces(): Promise<void> {
  const upstream = await startUpstream();
  // A collector takes what it is sent and says so, as the provider does.
  const collector = await startUpstream();
  const silent = await startBackend(upstream);
  const traced = await startBackend(upstream, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.address });
  const side = (address: string) => ({
    url: `${address}/v1/chat/completions`,
    headers: CALLER,
    body: JSON.stringify(CHAT),
  });
  try {
    const found = await inTurns({ silent: side(silent.address), traced: side(traced.address) });
    printTable('Chat, 64 connections', [
      { side: 'without traces', 'per second': median(found.silent) },
      { side: 'with traces', 'per second': median(found.traced) },
    ]);
    const cpu = await cpuInTurns({
      silent: { service: silent, ...side(silent.address) },
      traced: { service: traced, ...side(traced.address) },
    });
    finish('ai traces', [{ figure: 'traced_vs_silent', ...against(found.traced, found.silent), atLeast: 0.95 }], {
      cpu_ms_silent: median(cpu.silent),
      cpu_ms_traced: median(cpu.traced),
    });
  } finally {
    await traced.stop();
    await silent.stop();
    await collector.stop();
    await upstream.stop();
  }
}
