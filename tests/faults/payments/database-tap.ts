import { createServer, connect, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/**
 * Stands between a service and PostgreSQL and sees each step that lasts: a commit, or a write outside of a transaction.
 * What is not committed is gone when a process dies, so the moments around these steps are all that there are.
 */

export interface DatabaseTap {
  url: string;
  /** Called before the step reaches the server, and before the service hears that it is done. */
  onStep: (sql: string, when: 'before' | 'after') => Promise<void> | void;
  close: () => void;
}

/** A write that is about money; anything else may happen now and then, and tells nothing. */
const MONEY =
  /^\s*(?:select ledger_|(?:insert into|update|delete from) "(?:\w*payment\w*|payouts|top_up\w*|split\w*|underground\w*)")/i;
const READY = Buffer.from([0x5a, 0, 0, 0, 5]);

export async function tapDatabase(databaseUrl: string): Promise<DatabaseTap> {
  const target = new URL(databaseUrl);
  const folder = target.searchParams.get('host');
  const port = target.port || '5432';
  const dial = (): Socket =>
    folder?.startsWith('/') ? connect(`${folder}/.s.PGSQL.${port}`) : connect(Number(port), target.hostname);
  const tap: DatabaseTap = { url: '', onStep: () => {}, close: () => {} };
  const server = createServer((client) => pass(client, dial(), tap));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  target.searchParams.delete('host');
  target.hostname = '127.0.0.1';
  target.port = String((server.address() as AddressInfo).port);
  tap.url = target.href;
  tap.close = () => void server.close();
  return tap;
}

function pass(client: Socket, server: Socket, tap: DatabaseTap): void {
  let waiting = Buffer.alloc(0);
  let turn: Promise<void> = Promise.resolve();
  let started = false;
  let isWatched = false;
  let inTransaction = false;
  let movesMoney = false;
  let texts: string[] = [];
  let underWay: string | null = null;
  const names = new Map<string, string>();

  const end = (): void => {
    client.destroy();
    server.destroy();
  };
  for (const socket of [client, server]) socket.on('error', end).on('close', end);

  /** What this round trip makes last; null: nothing. */
  function stepOf(): string | null {
    const ends = texts.some((text) => /^\s*commit/i.test(text));
    const begins = texts.some((text) => /^\s*begin/i.test(text));
    movesMoney = (inTransaction && movesMoney) || texts.some((text) => MONEY.test(text));
    inTransaction = (inTransaction || begins) && !ends && !texts.some((text) => /^\s*rollback/i.test(text));
    const step = movesMoney && !inTransaction ? texts.at(-1) : undefined;
    texts = [];
    return step ?? null;
  }

  function read(type: string, body: Buffer): void {
    const [first = '', second = ''] = body.toString('latin1').split('\0', 2);
    if (type === 'P') names.set(first, second);
    if (type === 'B') texts.push(names.get(second) ?? '');
    if (type === 'Q') texts.push(first);
  }

  async function forward(message: Buffer, ends: boolean): Promise<void> {
    const step = ends ? stepOf() : null;
    if (step !== null && isWatched) {
      await tap.onStep(step, 'before');
      underWay = step;
    }
    if (!client.destroyed) server.write(message);
  }

  client.on('data', (chunk: Buffer) => {
    waiting = Buffer.concat([waiting, chunk]);
    for (;;) {
      const head = started ? 1 : 0;
      if (waiting.length < head + 4) return;
      const length = head + waiting.readUInt32BE(head);
      if (waiting.length < length) return;
      const message = waiting.subarray(0, length);
      waiting = waiting.subarray(length);
      const type = started ? String.fromCharCode(message[0]!) : '';
      if (!started) isWatched = message.includes('application_name\0troupe\0');
      started = true;
      turn = turn.then(() => {
        read(type, message.subarray(5));
        return forward(message, type === 'S' || type === 'Q');
      });
    }
  });

  let back: Promise<void> = Promise.resolve();
  server.on('data', (chunk: Buffer) => {
    const isDone = chunk.subarray(-6, -1).equals(READY);
    back = back.then(async () => {
      const step = underWay;
      if (isDone && step !== null) {
        underWay = null;
        await tap.onStep(step, 'after');
      }
      if (!client.destroyed) client.write(chunk);
    });
  });
}
