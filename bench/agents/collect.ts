import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Loaded before a service: SIGUSR2 makes it collect its garbage, so that memory can be compared. */

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
process.on('SIGUSR2', () => {
  for (let times = 0; times < 3; times += 1) collect();
});
