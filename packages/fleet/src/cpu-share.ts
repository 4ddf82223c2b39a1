/** What an agent costs that has no process of its own: its part of this one, by who is at work. Asleep it costs nothing. */
export function createCpuShare() {
  let lastAt = performance.now();
  let lastUsed = process.cpuUsage();
  let percent = 0;

  function measure(): number {
    const now = performance.now();
    if (now - lastAt < 1000) return percent;
    const { user, system } = process.cpuUsage(lastUsed);
    percent = (user + system) / 10 / (now - lastAt);
    lastUsed = process.cpuUsage();
    lastAt = now;
    return percent;
  }

  return {
    of(busy: number, awake: number) {
      const used = measure();
      if (busy === 0) return { cpu: 0, memory: 0, memoryPercent: 0 };
      const { heapUsed, heapTotal } = process.memoryUsage();
      const memory = Math.round(heapUsed / Math.max(awake, 1));
      return { cpu: round(used / Math.max(awake, 1)), memory, memoryPercent: round((100 * memory) / heapTotal) };
    },
  };
}

const round = (value: number): number => Math.round(value * 100) / 100;
