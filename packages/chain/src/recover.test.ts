import assert from 'node:assert/strict';
import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { after, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { hashMessage, type Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createRecover } from './recover.ts';

const recover = createRecover();
after(() => recover.close());
const account = privateKeyToAccount(generatePrivateKey());
const hash = hashMessage('hello');

test('recovers the signer, and nobody from what is no signature', async () => {
  const signature = await account.signMessage({ message: 'hello' });
  assert.equal(await recover(hash, signature), account.address);
  assert.notEqual(await recover(hashMessage('other'), signature), account.address);
  for (const bad of ['0x', `0x${'00'.repeat(65)}`, `0x${'ff'.repeat(65)}`, 'hello'] as Hex[]) {
    assert.equal(await recover(hash, bad), null);
  }
});

test('hundreds of bad signatures leave the event loop free', async () => {
  const bad = await account.signMessage({ message: 'other' });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await Promise.all(Array.from({ length: 400 }, () => recover(hash, bad)));
  delay.disable();
  // On the loop these would be one block of some hundred milliseconds.
  assert.ok(delay.percentile(50) < 20e6, `median delay ${delay.percentile(50) / 1e6} ms`);
});

test('more than can wait are turned away, and those that wait are still answered', async () => {
  const small = createRecover({ maxWaiting: 3 });
  const signature = await account.signMessage({ message: 'hello' });
  const all = await Promise.allSettled(Array.from({ length: 5 }, () => small(hash, signature)));
  assert.deepEqual(
    all.map((one) => (one.status === 'fulfilled' ? one.value : (one.reason as { status: number }).status)),
    [account.address, account.address, account.address, 503, 503],
  );
  await small.close();
});

test('the thread ends when idle and starts again when needed', async () => {
  const short = createRecover({ idleMs: 1 });
  const signature = await account.signMessage({ message: 'hello' });
  const started = once(process, 'worker');
  await short(hash, signature);
  const [thread] = (await started) as [Worker];
  await once(thread, 'exit');
  const again = once(process, 'worker');
  assert.equal(await short(hash, signature), account.address);
  assert.notEqual((await again)[0], thread);
  await short.close();
});
