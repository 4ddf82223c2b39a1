import assert from 'node:assert/strict';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { createOutbound, OutboundError } from '@troupe/kernel';
import { SITES } from '@troupe/testing/machine/closed-network';

/** Runs in a network in which this machine has public addresses; started by the test of the same name. */

const knocks: number[] = [];
const servers = [80, 9200].map((port) =>
  net
    .createServer((socket) => {
      knocks.push(port);
      socket.on('error', () => socket.destroy());
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret'));
    })
    .listen(port, SITES['allowed.test']),
);
const outbound = createOutbound();
before(() => Promise.all(servers.map((server) => new Promise((resolve) => server.once('listening', resolve)))));
after(async () => {
  await outbound.close();
  for (const server of servers) server.close();
});

const refused = (error: unknown): boolean => error instanceof OutboundError && error.kind === 'blocked';

test('what listens on our own address beside the web is not reached, by name or number', async () => {
  for (const host of ['allowed.test', SITES['allowed.test'], '0xb000001', `[::ffff:${SITES['allowed.test']}]`]) {
    await assert.rejects(outbound.fetch(`http://${host}:9200/`), refused, host);
    const name = host.replace(/^\[|\]$/g, '');
    await assert.rejects(outbound.connect({ host: name, port: 9200 }), refused, host);
  }
  assert.deepEqual(knocks, [], 'nobody even knocked');
  const answer = await outbound.fetch('http://allowed.test/');
  assert.equal(await answer.text(), 'secret', 'what anybody may read');
});

test('who names it is let in', async () => {
  const named = createOutbound({ privateHosts: ['allowed.test:9200'] });
  try {
    assert.equal(await (await named.fetch('http://allowed.test:9200/')).text(), 'secret');
  } finally {
    await named.close();
  }
});
