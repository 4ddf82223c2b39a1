import { finish, printTable } from '../lib/report.ts';
import { against, median } from '../lib/sides.ts';
import { CALLER, inTurns, startOurs } from './setup.ts';

/** Embeddings as the public client asks for them (base64, 1,536 numbers), against a bare node:http pass-through. */

const BODY = JSON.stringify({
  model: 'openai/text-embedding-3-small',
  input: 'Something short about the sea, and then something shorter.',
  encoding_format: 'base64',
});

export async function benchEmbeddings(): Promise<void> {
  const { passThrough, ours, stop } = await startOurs();
  const side = (address: string, headers: Record<string, string>) => ({
    url: `${address}/v1/embeddings`,
    headers,
    body: BODY,
  });
  try {
    const found = await inTurns({
      passThrough: side(passThrough.address, { authorization: 'Bearer bench' }),
      ours: side(ours.address, CALLER),
    });
    printTable('Embeddings, 64 connections', [
      { side: 'passThrough', 'per second': median(found.passThrough) },
      { side: 'ours', 'per second': median(found.ours) },
    ]);
    const figure = 'embeddings_vs_pass_through';
    finish('ai embeddings', [{ figure, ...against(found.ours, found.passThrough), atLeast: 0.7 }]);
  } finally {
    await stop();
  }
}
