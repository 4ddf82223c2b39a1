import { nothing, unless, type Prepare } from './hostile.ts';

/** Memory that belongs to no process of the sandbox: half as much again as the sandbox may have. */
const FILL = 'dd if=/dev/zero of=/dev/shm/x bs=1M count=1536 2>&1; sleep 3; rm -f /dev/shm/x';

export const hostileSharedMemory: Prepare = async ({ attacker }) => ({
  attack: (signal) =>
    unless(signal, attacker.chat({ tool: 'shell', args: { cmd: FILL, timeout: 20 } }, { say: 'done' })),
  end: nothing,
});
