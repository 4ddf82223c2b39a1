import type { DriverStats } from '../driver.ts';
import type { KubeObject } from './client.ts';

/** What a cluster that measures its pods says of one. */
export interface PodMetrics extends KubeObject {
  containers: { usage: { cpu: string; memory: string } }[];
}

const UNITS: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
};

/** As Kubernetes writes numbers: `12m`, `345Ki`; null: it is none that we know. */
function quantity(text: string): number | null {
  const [, digits = '', unit = ''] = /^(\d+(?:\.\d+)?)([a-zA-Z]*)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  return digits === '' || factor === undefined ? null : Number(digits) * factor;
}

const round = (value: number): number => Math.round(value * 100) / 100;

/** Neither bytes on the network nor processes are among what a cluster measures. */
export function figures(metrics: PodMetrics | undefined, limitBytes: number): Omit<DriverStats, 'work'> {
  const usage = metrics?.containers[0]?.usage;
  const cpu = usage ? quantity(usage.cpu) : null;
  const memory = usage ? quantity(usage.memory) : null;
  return {
    cpu: cpu === null ? null : round(100 * cpu),
    memory,
    memoryPercent: memory === null ? null : round((100 * memory) / limitBytes),
    network: null,
    pids: null,
  };
}
