import type Docker from 'dockerode';
import type { DriverStats } from '../driver.ts';

/** What the engine measures of a container; undefined: there is none. */
export function figures(raw: Docker.ContainerStats | undefined): Omit<DriverStats, 'work'> {
  if (!raw?.cpu_stats) return { cpu: null, memory: null, memoryPercent: null, network: null, pids: null };
  const used = raw.cpu_stats.cpu_usage.total_usage - raw.precpu_stats.cpu_usage.total_usage;
  const passed = raw.cpu_stats.system_cpu_usage - raw.precpu_stats.system_cpu_usage;
  const networks = Object.values(raw.networks ?? {});
  const { usage, limit } = raw.memory_stats;
  return {
    cpu: passed > 0 ? round((100 * used * (raw.cpu_stats.online_cpus || 1)) / passed) : null,
    memory: usage ?? null,
    memoryPercent: usage && limit ? round((100 * usage) / limit) : null,
    network:
      networks.length === 0
        ? null
        : {
            rx: networks.reduce((sum, { rx_bytes }) => sum + rx_bytes, 0),
            tx: networks.reduce((sum, { tx_bytes }) => sum + tx_bytes, 0),
          },
    pids: raw.pids_stats?.current ?? null,
  };
}

const round = (value: number): number => Math.round(value * 100) / 100;
