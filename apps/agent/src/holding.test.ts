import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { newId, silentLog } from '@troupe/kernel';
import { holdData, isOfHolding, type Holding } from './holding.ts';

const root = await mkdtemp(path.join(tmpdir(), 'troupe-holding-'));
const children: ChildProcess[] = [];
after(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(root, { recursive: true, force: true });
});

/** A busy machine lets somebody wait for his turn longer than a beat. */
const TIMES = { beatMs: 60, silentMs: 1500, lostMs: 800 };
let folders = 0;
async function fresh(): Promise<string> {
  const folder = path.join(root, String((folders += 1)));
  await mkdir(folder);
  return folder;
}

async function held(folder: string, onClaimed: (holding: Holding) => void = () => {}, place?: string) {
  const lost = Promise.withResolvers<void>();
  const claimed = Promise.withResolvers<void>();
  const holding: Holding = await holdData({
    folder,
    place,
    log: silentLog,
    times: TIMES,
    onClaimed: () => {
      claimed.resolve();
      onClaimed(holding);
    },
    onLost: lost.resolve,
  });
  return { holding, lost: lost.promise, claimed: claimed.promise };
}

/** A program of its own, which can be frozen. */
async function heldElsewhere(folder: string, place?: string) {
  const program = `
    import { holdData } from ${JSON.stringify(path.join(import.meta.dirname, 'holding.ts'))};
    import { silentLog } from '@troupe/kernel';
    await holdData({ folder: ${JSON.stringify(folder)}, place: ${JSON.stringify(place)}, log: silentLog, times: ${JSON.stringify(TIMES)},
      onClaimed: () => console.log('claimed'), onLost: () => process.exit(71) });
    console.log('held');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  assert.equal(String(said), 'held\n');
  return child;
}

/** Whoever has the folder has looked and beaten so many times more. */
async function beaten(folder: string, times: number): Promise<void> {
  const beats = async (): Promise<number> =>
    Number((await readFile(path.join(folder, '.holder'), 'utf8')).split(' ')[1]);
  const wanted = (await beats()) + times;
  for (const deadline = Date.now() + 10_000; (await beats()) < wanted; await delay(TIMES.beatMs / 4))
    assert.ok(Date.now() < deadline, 'the one who has it beats');
}

test('who comes waits until who was there has handed over, however long that takes', async () => {
  const folder = await fresh();
  const events: string[] = [];
  const first = await held(folder, (holding) => {
    events.push('claimed');
    // Longer than who is silent may be.
    setTimeout(() => {
      events.push('closed');
      void holding.close();
    }, TIMES.silentMs * 2);
  });
  const second = await held(folder);
  events.push('taken');
  assert.deepEqual(events, ['claimed', 'closed', 'taken']);
  await first.claimed;
  await second.holding.close();
  assert.deepEqual(
    (await readdir(folder)).filter((name) => !isOfHolding(name)),
    [],
  );
});

test('whoever was killed is waited for no longer than who is silent, and one that closed not at all', async () => {
  const folder = await fresh();
  const child = await heldElsewhere(folder);
  child.kill('SIGKILL');
  await once(child, 'exit');
  let began = performance.now();
  const { holding } = await held(folder);
  assert.ok(performance.now() - began >= TIMES.silentMs * 0.8);
  await holding.close();
  began = performance.now();
  await (await held(folder)).holding.close();
  assert.ok(performance.now() - began < TIMES.silentMs * 0.8);
});

test('one that was frozen finds that another has the data, and ends at once', async () => {
  const folder = await fresh();
  const child = await heldElsewhere(folder);
  child.kill('SIGSTOP');
  const { holding } = await held(folder);
  const ended = once(child, 'exit');
  child.kill('SIGCONT');
  assert.deepEqual(await ended, [71, null]);
  // It took nothing with it.
  await beaten(folder, 2);
  assert.ok((await readdir(folder)).includes('.holder'));
  await holding.close();
});

test('of many that come at once the last one has it, and all others know', async () => {
  const folder = await fresh();
  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, () => held(folder, (holding) => void holding.close())),
  );
  const refused = outcomes.filter(({ status }) => status === 'rejected');
  for (const one of refused) assert.match(String((one as PromiseRejectedResult).reason), /after this one/);
  const taken = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const gone = new Set<Holding>();
  for (const { holding, claimed, lost } of taken) void Promise.race([claimed, lost]).then(() => gone.add(holding));
  const left = (): number => taken.length - gone.size;
  for (const deadline = Date.now() + 10_000; left() > 1; await delay(TIMES.beatMs)) assert.ok(Date.now() < deadline);
  await beaten(folder, 3);
  assert.equal(left(), 1, `${taken.length} had it`);
  await Promise.all(taken.map(({ holding }) => holding.close()));
});

test('one whose folder is gone goes, too', async () => {
  const folder = await fresh();
  const { claimed, holding } = await held(folder);
  await rm(folder, { recursive: true });
  await claimed;
  await holding.close();
});

test('a place that another has followed stays out, however often something starts it again there', async () => {
  const folder = await fresh();
  const [older, newer] = [newId(), newId()];
  const first = await held(folder, (holding) => void holding.close(), older);
  const second = await held(folder, () => {}, newer);
  await first.claimed;
  let claimed = false;
  void second.claimed.then(() => (claimed = true));
  for (let times = 0; times < 3; times += 1)
    await assert.rejects(
      held(folder, () => {}, older),
      { name: 'StartError', message: /after this one/ },
    );
  await beaten(folder, 3);
  assert.equal(claimed, false);
  await second.holding.close();
  await assert.rejects(
    held(folder, () => {}, older),
    { name: 'StartError', message: /after this one/ },
  );
});

test('a claim that one of before writes late, when its successor is there, counts for nothing', async () => {
  const folder = await fresh();
  const [older, newer] = [newId(), newId()];
  await (await held(folder, () => {}, older)).holding.close();
  const { holding, claimed } = await held(folder, () => {}, newer);
  let hasLost = false;
  void claimed.then(() => (hasLost = true));
  const claim = path.join(folder, '.claim');
  await writeFile(claim, older);
  for (const deadline = Date.now() + 10_000; (await readFile(claim, 'utf8')) !== newer; await delay(TIMES.beatMs))
    assert.ok(Date.now() < deadline);
  await beaten(folder, 3);
  assert.equal(hasLost, false);
  await holding.close();
});

test('where one place runs one program at a time, who was killed there is not waited for', async () => {
  const folder = await fresh();
  const place = newId();
  const child = await heldElsewhere(folder, place);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const began = performance.now();
  const { holding } = await held(folder, () => {}, place);
  assert.ok(performance.now() - began < TIMES.silentMs * 0.8);
  await holding.close();
});
