import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { callersOf, type Caller } from './callers.ts';
import { OPEN, type Opening } from './open.ts';
import { differences, emptyTables, snapshot } from './snapshot.ts';
import { ownerIsRefused } from './owner.ts';
import { sweep } from './sweep.ts';
import { allTargets, exampleGaps, forgottenRoutes, headsOf, mixedTargets, type Target } from './targets.ts';
import { upgradesOf } from './upgrades.ts';
import { createWorld, SHAPES, type World } from './world.ts';

/** Every endpoint, and all that is answered beside them, asked by everybody who has no right to what the owner has. */

const AT_GATEWAY = { auth: 'gateway' } as Target;
let pairs = 0;
let leaks = 0;
const needed = new Set<Opening>();
after(() => console.log(`${pairs} pairs, ${leaks} leaks`));

for (const shape of Object.keys(SHAPES))
  describe(`in the ${shape} shape`, () => {
    let world: World;
    before(async () => {
      world = await createWorld(shape);
    });
    after(() => world.stop());
    const targets = (what?: Caller['what']) => {
      const domain = world.services.runtime.settings.AGENTS_DOMAIN;
      if (what === 'mixed') return mixedTargets(world.ids, world.stranger.agentId, domain);
      const all = allTargets(world.ids, domain);
      return what === 'withHeads' ? [...all, ...headsOf(all)] : all;
    };

    test('no endpoint, no route and no table of users is left out', async () => {
      assert.deepEqual(exampleGaps(world.ids), []);
      assert.deepEqual(
        Object.values(world.servers).flatMap(forgottenRoutes),
        [],
        'describe these routes in packages/contract, or name them in BESIDE of tests/authorization/targets.ts',
      );
      assert.deepEqual(
        await emptyTables(world.services.runtime.db, world.ids),
        [],
        'give the owner a row in each of these tables, in tests/authorization/rows.ts',
      );
    });

    test('nobody reaches, sees or changes what belongs to the owner', async () => {
      const { db } = world.services.runtime;
      const faults: string[] = [];
      let earlier = await snapshot(db, world.ids);
      for (const caller of await callersOf(world)) {
        // They count for the account, whoever tries: the next one would only meet the limit.
        await db.system.deleteFrom('password_guesses').execute();
        const done = await sweep(world, targets(caller.what), caller);
        pairs += done.pairs;
        for (const opening of done.used) needed.add(opening);
        const now = await snapshot(db, world.ids);
        faults.push(...done.faults, ...differences(earlier, now).map((what) => `[${shape}] ${caller.name} ${what}`));
        earlier = now;
      }
      for (const caller of (await callersOf(world)).filter(({ what }) => what === undefined)) {
        if (caller.standing(AT_GATEWAY).startsWith('platform')) continue;
        const statuses = await upgradesOf(world, caller);
        pairs += statuses.length;
        const wrong = statuses.filter((status) => status !== 401);
        faults.push(...wrong.map((status) => `[${shape}] ${caller.name}: a WebSocket is answered with ${status}`));
      }
      leaks += faults.length;
      assert.deepEqual(faults, []);
    });

    test('the owner does', async () => {
      assert.deepEqual(await ownerIsRefused(world, targets()), []);
    });
  });

test('nothing stands on the list of what is open that is not', () => {
  assert.deepEqual(
    OPEN.filter((one) => !needed.has(one)).map(({ target }) => String(target)),
    [],
  );
});
