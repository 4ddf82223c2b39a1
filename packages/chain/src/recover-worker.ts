import { parentPort } from 'node:worker_threads';
import type { Hex } from 'viem';
import { recoverAddress } from 'viem/utils';

async function answer({ id, hash, signature }: { id: number; hash: Hex; signature: Hex }): Promise<void> {
  const address = await recoverAddress({ hash, signature }).catch(() => null);
  parentPort?.postMessage({ id, address });
}

parentPort?.on('message', (request: Parameters<typeof answer>[0]) => void answer(request));
