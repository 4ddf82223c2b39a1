import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { send } from '@troupe/testing/services/people';

/** The public demo has a limit for each address; whoever has a network of addresses had no limit at all. */

let scene: Scene;
before(async () => {
  scene = await startScene({ TRUST_PROXY: '1' });
});
after(() => scene.stop());

const MOST_AN_HOUR = 300;
const CALLS = 400;
const AT_ONCE = 20;

test('the demo answers so many an hour, from however many addresses they come', async () => {
  const before = scene.director.provider.requests.length;
  const statuses: number[] = [];
  await scene.unharmed(() =>
    Promise.all(
      Array.from({ length: AT_ONCE }, async (_, lane) => {
        for (let n = 0; n < CALLS / AT_ONCE; n += 1) {
          // A network of 48 bits has 65,536 of 64 bits, each of which counts as one address.
          const headers = { 'x-forwarded-for': `2001:db8:7:${(lane * 1000 + n).toString(16)}::1` };
          statuses.push((await send(`${scene.web}/api/demo/chat`, 'POST', { message: 'hello' }, headers)).status);
        }
      }),
    ),
  );
  assert.equal(statuses.filter((status) => status === 200).length, MOST_AN_HOUR);
  assert.equal(statuses.filter((status) => status === 429).length, CALLS - MOST_AN_HOUR);
  assert.equal(scene.director.provider.requests.length - before, MOST_AN_HOUR, 'what is refused costs nothing');
});
