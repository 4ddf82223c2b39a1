import { parentPort } from 'node:worker_threads';
import { recoverAddress, type Hex } from 'viem/utils';

parentPort?.on('message', async ({ id, hash, signature }: { id: number; hash: Hex; signature: Hex }) => {
  const address = await recoverAddress({ hash, signature }).catch(() => null);
  parentPort?.postMessage({ id, address });
});
