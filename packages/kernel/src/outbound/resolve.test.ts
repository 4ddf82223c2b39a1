import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createResolve, systemResolve } from './resolve.ts';

/** A name server that answers for `quick.example` and lets everybody else wait. */
let server: Socket;
let address: string;
let folder: string;
before(async () => {
  server = createSocket('udp4');
  server.on('message', (question, { port }) => {
    if (!question.includes('quick')) return;
    const isFour = question.at(-3) === 1;
    const record = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7]);
    const head = Buffer.from(question.subarray(0, 12));
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(isFour ? 1 : 0, 6);
    head.writeUInt32BE(0, 8);
    // What follows the question in newer clients (EDNS) is not repeated.
    const end = question.indexOf(0, 12) + 5;
    server.send(Buffer.concat([head, question.subarray(12, end), ...(isFour ? [record] : [])]), port, '127.0.0.1');
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  folder = await mkdtemp(path.join(tmpdir(), 'troupe-hosts-'));
});
after(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

describe('names that others give', () => {
  test('are asked of the name server, and an address is itself', async () => {
    const resolve = createResolve({ servers: [address], hostsFile: '/nowhere' });
    assert.deepEqual(await resolve('quick.example'), [{ address: '192.0.2.7', family: 4 }]);
    assert.deepEqual(await resolve('192.0.2.1'), [{ address: '192.0.2.1', family: 4 }]);
    assert.deepEqual(await resolve('::1'), [{ address: '::1', family: 6 }]);
  });

  test('whose server never answers hold up neither the system’s look-ups nor each other', async () => {
    const resolve = createResolve({ servers: [address], hostsFile: '/nowhere', timeoutMs: 300 });
    const order: string[] = [];
    const late = Array.from({ length: 40 }, (_, n) =>
      resolve(`late-${n}.example`).then(
        () => assert.fail('it was answered'),
        () => void order.push('late'),
      ),
    );
    await Promise.all([
      resolve('quick.example').then(() => void order.push('quick')),
      systemResolve('localhost').then(() => void order.push('system')),
    ]);
    assert.deepEqual(order.toSorted(), ['quick', 'system']);
    await Promise.all(late);
  });

  test('are looked for in the file of hosts first, also after it has changed', async () => {
    const hostsFile = path.join(folder, 'hosts');
    await writeFile(
      hostsFile,
      '# ours\n10.1.1.1 Box.Example other.example # here\n::2 box.example\nnonsense x.example\n',
    );
    const resolve = createResolve({ servers: [address], hostsFile, timeoutMs: 100 });
    assert.deepEqual(await resolve('box.example.'), [
      { address: '10.1.1.1', family: 4 },
      { address: '::2', family: 6 },
    ]);
    await writeFile(hostsFile, '10.1.1.22 box.example\n');
    assert.deepEqual(await resolve('box.example'), [{ address: '10.1.1.22', family: 4 }]);
    await assert.rejects(resolve('x.example'));
  });
});
