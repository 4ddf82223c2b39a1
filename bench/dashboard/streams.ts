import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { MOST_STREAMS } from '@troupe/contract';
import { endWithUs } from '../lib/child.ts';

/** What a live stream costs the server while nothing happens: services in a process of their own, tabs in this one. */

export interface Ready {
  web: string;
  keys: string[];
}

const open = (url: string, key: string, agent: Agent): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` };
    request(`${url}/api/live`, { agent, headers }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`a stream was answered ${response.statusCode}`));
      // The first event says that it follows.
      response.once('data', () => resolve(response));
    })
      .once('error', reject)
      .end();
  });

/** Bytes that the server holds for each of so many tabs, garbage collected on both sides of the measurement. */
export async function streamBytes(tabs: number): Promise<number> {
  const users = Math.ceil(tabs / MOST_STREAMS);
  const child = endWithUs(
    fork(fileURLToPath(new URL('streams-child.ts', import.meta.url)), [String(users)], { execArgv: ['--expose-gc'] }),
  );
  const ask = async <T>(word: string): Promise<T> => {
    child.send(word);
    const [answer] = (await once(child, 'message')) as [T];
    return answer;
  };
  try {
    const { web, keys } = await ask<Ready>('where');
    const agent = new Agent({ maxSockets: Infinity });
    const openAll = () => Promise.all(Array.from({ length: tabs }, (_, n) => open(web, keys[n % users]!, agent)));
    const closeAll = async (streams: IncomingMessage[]) => {
      for (const stream of streams) stream.destroy();
      await ask('idle');
    };
    // Once before it counts: what is made at the first use is not a tab's.
    await closeAll(await openAll());
    const before = await ask<number>('bytes');
    const streams = await openAll();
    const after = await ask<number>('bytes');
    await closeAll(streams);
    return (after - before) / tabs;
  } finally {
    child.kill('SIGTERM');
  }
}
