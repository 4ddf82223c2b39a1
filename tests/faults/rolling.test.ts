import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needs } from '@troupe/testing/machine/needs';
import { OLDEST_WITH_BLOBS, twoReleases } from './rolling/releases.ts';
import { roll } from './rolling/roll.ts';

const LIMIT_MS = 400_000;

for (const [what, commit] of [
  ['from an older version', OLDEST_WITH_BLOBS],
  ['from this version to the next', undefined],
] as const)
  test(
    `an update rolls under load ${what}: nothing is lost or doubled, streams go on`,
    { skip: needs('redis-server', 'nginx'), timeout: LIMIT_MS },
    async (t) => {
      const releases = await twoReleases(commit);
      t.after(releases.remove);
      t.diagnostic(`from ${releases.from.name} to ${releases.to.name}`);
      const { asked, answered, kinds, ran, exchanged, refused, wrong } = await roll(releases, (line) =>
        t.diagnostic(line),
      );
      t.diagnostic(
        `${answered} of ${asked} answered ${JSON.stringify(kinds)}, ${ran} tasks ran; ${refused.join(', ')}`,
      );
      assert.deepEqual(wrong, []);
      if (commit === undefined) assert.deepEqual(refused, []);
      assert.equal(exchanged.length, 6);
      assert.ok(exchanged.some(({ resumed }) => resumed > 0));
      assert.equal(Object.keys(kinds).length, 7);
      assert.ok(answered > 200);
    },
  );
