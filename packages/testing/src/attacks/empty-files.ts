import { unless, type Prepare } from './hostile.ts';

/** Files without a byte, more than anybody needs, and a look at all of them. */
const MAKE = 'mkdir -p many && cd many && seq 1 200000 | xargs -n 4000 touch; sleep 2';
const REMOVE = { tool: 'shell', args: { cmd: 'rm -rf many', timeout: 60 } };

export const hostileEmptyFiles: Prepare = async ({ attacker }) => ({
  attack: (signal) =>
    unless(
      signal,
      attacker.chat(
        { tool: 'shell', args: { cmd: MAKE, timeout: 60 } },
        { tool: 'directory_tree', args: { path: '.' } },
        { tool: 'write_file', args: { path: 'one-more', content: 'x' } },
        { say: 'done' },
      ),
    ),
  end: async () => void (await attacker.chat(REMOVE, { say: 'removed' })),
});
