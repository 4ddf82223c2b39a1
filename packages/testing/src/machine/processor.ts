/** Milliseconds of the processor that this takes, on this thread: on the clock it takes longer where others want it, too. */
export function processorMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
