import { prepare } from './lib/prepare.mjs';
import { main } from './lib/step.mjs';

/** Sets up what is missing for `npm start`, or with `--dev` for `npm test`, before Node 24 can be taken for granted. */
await main(async () => void (await prepare({ dev: process.argv.includes('--dev') })));
