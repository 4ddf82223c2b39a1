import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { clientTypes } from './lib/client-types.ts';

/** `npm run docs:client`: the types of @troupe/client, from the contract. */
writeFileSync(path.join(import.meta.dirname, '../packages/client/src/endpoints.gen.d.mts'), clientTypes());
