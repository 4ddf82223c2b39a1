import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ownersHeaders, rank } from './owner.ts';
import { ask } from './sweep.ts';
import { allTargets, type Target } from './targets.ts';
import { createWorld, type World } from './world.ts';

/**
 * Every change of the contract, by its owner, eight times in the same moment, and together with the other changes of the same
 * thing: each is done or refused with what the contract names. A 500 is a race that the database decided, a database that
 * "does not answer" two that waited for each other.
 */

const TIMES = 8;
/** After these the owner is nobody. */
const ENDS = /\/api\/(auth\/signout|account\/close|auth\/sessions|settings\/password)/;

let world: World;
let headersFor: (target: Target) => Record<string, string>;
let changes: Target[];
before(async () => {
  world = await createWorld('loopback');
  headersFor = await ownersHeaders(world);
  const domain = world.services.runtime.settings.AGENTS_DOMAIN;
  changes = allTargets(world.ids, domain).filter(
    ({ method, name, service }) => method !== 'GET' && service !== 'summarizer' && !ENDS.test(name),
  );
});
after(() => world.stop());

/** What went wrong, a sentence each. */
async function together(targets: readonly Target[]): Promise<string[]> {
  const answers = await Promise.all(
    targets.map(async (target) => ({ target, ...(await ask(world, target, headersFor(target))) })),
  );
  return answers.flatMap(({ target, status, text }) => {
    const said = text.split('\n')[1]?.slice(0, 200) ?? '';
    const isFault = status >= 500 && (!target.failures.includes(status) || /database/.test(said));
    return isFault ? [`${target.name} ${target.url}: ${status} ${said}`] : [];
  });
}

/** What a change is about: the first parts of its path. */
const about = ({ service, url }: Target): string =>
  `${service} ${url.split(/[?]/)[0]!.split('/').slice(0, 4).join('/')}`;

test('all changes of one thing at once', async () => {
  const faults: string[] = [];
  const lasting = changes.filter((target) => rank(target) < 3 && target.method !== 'DELETE');
  for (const family of Map.groupBy(lasting, about).values()) {
    for (let from = 0; from < family.length; from += TIMES) {
      const some = family.slice(from, from + TIMES);
      faults.push(...(await together([...some, ...some])));
    }
  }
  assert.deepEqual([...new Set(faults)], []);
});

test('each change eight times at once', async () => {
  const faults: string[] = [];
  for (const target of changes.toSorted((a, b) => rank(a) - rank(b)))
    faults.push(...(await together(Array.from({ length: TIMES }, () => target))));
  assert.deepEqual([...new Set(faults)], []);
});
