import { prepare } from './lib/prepare.mjs';
import { main } from './lib/step.mjs';

/** Sets up what is missing for `npm start`, before Node 24 can be taken for granted. */
await main(async () => void (await prepare({ dev: false })));
