import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzz } from './run.ts';

/** Another seed each day: what is found can be had again with `npm run fuzz -- 5000 <seed>`. */
const seed = Math.floor(Date.now() / 86_400_000);

test('5,000 requests that nobody would send are all answered, and harm nothing', async (context) => {
  const { failures, statuses, sent, grownMb } = await fuzz({ requests: 5000, seed });
  context.diagnostic(`seed ${seed}, ${sent} requests, ${Math.round(grownMb)} MB grown, ${JSON.stringify(statuses)}`);
  assert.deepEqual(failures, [], `seed ${seed}`);
  assert.equal(sent, 5000);
});
