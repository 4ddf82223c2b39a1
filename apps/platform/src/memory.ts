import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Loading the code leaves some 30 MB of garbage, which V8 would keep for as long as nobody asks for anything. */
export function tidyMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: 'major'; flavor: 'last-resort' }) => void;
  collect({ type: 'major', flavor: 'last-resort' });
}
