import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Loaded before a service: SIGUSR2 makes it collect its garbage as it does by itself when it rests, so that memory can be
 * compared. The young generation is given back, too: how much V8 has set aside for it says nothing about who lives.
 */

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'major'; flavor: 'last-resort' }) => void;
process.on('SIGUSR2', () => {
  for (let times = 0; times < 3; times += 1) collect({ type: 'major', flavor: 'last-resort' });
});
