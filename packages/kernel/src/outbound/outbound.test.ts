import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createRaw, type AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { addressAllowed } from './addresses.ts';
import { OutboundError, type OutboundErrorKind } from './errors.ts';
import { createOutbound, type Outbound, type OutboundOptions } from './outbound.ts';

const cleanups: (() => unknown)[] = [];
after(async () => {
  for (const cleanup of cleanups) await cleanup();
});

async function listen(handler: RequestListener): Promise<string> {
  const server: Server = createServer(handler).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function client(options: OutboundOptions = {}) {
  const outbound = createOutbound(options);
  cleanups.push(() => outbound.close());
  return outbound;
}

const failsWith = (kind: OutboundErrorKind) => (error: unknown) => {
  assert.ok(error instanceof OutboundError, String(error));
  assert.equal(error.kind, kind, error.message);
  return true;
};

describe('addresses', () => {
  const PUBLIC = ['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'];
  const NEVER = [
    ['0.0.0.0', '0.1.2.3', '169.254.169.254', '224.0.0.1', '240.0.0.1', '255.255.255.255', '192.0.2.1', '198.18.0.1'],
    ['::', 'fe80::1', 'ff02::1', '2002:7f00:1::', '2001:db8::1', '2001::1', '::7f00:1', '::ffff:169.254.169.254'],
    ['64:ff9b::a9fe:a9fe', '64:ff9b:1::7f00:1', 'fec0::1', '100::1', 'not an address', ''],
  ].flat();
  const LOOPBACK = ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '64:ff9b::7f00:1'];
  const PRIVATE = ['10.0.0.1', '172.16.0.1', '192.168.1.1', '100.64.0.1', 'fc00::1', 'fd12::1', '::ffff:10.0.0.1'];
  const groups = { public: PUBLIC, never: NEVER, loopback: LOOPBACK, private: PRIVATE };

  for (const [rules, open] of [
    [{}, ['public']],
    [{ allowLoopback: true }, ['public', 'loopback']],
    [{ allowPrivate: true }, ['public', 'private']],
  ] as const) {
    test(`with ${JSON.stringify(rules)} only ${open.join(' and ')} addresses are allowed`, () => {
      for (const [group, addresses] of Object.entries(groups)) {
        for (const address of addresses) {
          assert.equal(addressAllowed(address, rules), (open as readonly string[]).includes(group), address);
        }
      }
    });
  }
});

test('of this machine’s own public addresses the ports of the web are allowed, and no others', () => {
  const own = () => new Set(['8.8.8.8', '2606:4700:4700::1111']);
  for (const address of ['8.8.8.8', '::ffff:8.8.8.8', '64:ff9b::808:808', '2606:4700:4700:0::1111']) {
    for (const port of [80, 443]) assert.ok(addressAllowed(address, {}, { port, own }), address);
    assert.ok(!addressAllowed(address, {}, { port: 5432, own }), address);
    assert.ok(addressAllowed(address, { allowLoopback: true }, { port: 5432, own }), address);
  }
  assert.ok(addressAllowed('1.1.1.1', {}, { port: 5432, own }));
});

describe('targets', () => {
  const refused = [
    ['http://127.0.0.1', 'http://2130706433', 'http://0x7f000001', 'http://0177.0.0.1', 'http://0x7f.1'],
    ['http://127.1', 'http://127.0.0.1.', 'http://[::1]', 'http://[::ffff:127.0.0.1]', 'http://[::ffff:7f00:1]'],
    ['http://0', 'http://[::]', 'http://10.0.0.1', 'http://169.254.169.254/latest', 'http://①②⑦.0.0.1'],
    ['http://localhost', 'http://[64:ff9b::7f00:1]', 'https://192.168.0.1', 'http://[fd00::1]'],
  ].flat();
  for (const url of refused) {
    test(`${url} is refused`, () => assert.rejects(client().fetch(url), failsWith('blocked')));
  }

  test('a name that resolves to a private address is refused', async () => {
    const outbound = client({ resolve: async () => [{ address: '10.1.2.3', family: 4 }] });
    await assert.rejects(outbound.fetch('http://public.example'), failsWith('blocked'));
    await assert.rejects(outbound.fetch('https://public.example'), failsWith('blocked'));
  });

  test('of several addresses only allowed ones are used, and a name is resolved once for a connection', async () => {
    const base = await listen((_, reply) => reply.end('here'));
    let asked = 0;
    const outbound = client({
      allowLoopback: true,
      resolve: async () => {
        asked += 1;
        return [
          { address: '10.0.0.1', family: 4 },
          { address: '127.0.0.1', family: 4 },
        ];
      },
    });
    const answer = await outbound.fetch(base.replace('127.0.0.1', 'mixed.example'));
    assert.equal(await answer.text(), 'here');
    assert.equal(asked, 1);
  });

  test('a name that does not resolve is a network error', async () => {
    const resolve = () => Promise.reject(new Error('ENOTFOUND'));
    await assert.rejects(client({ resolve }).fetch('http://nowhere.example'), failsWith('network'));
    await assert.rejects(client({ resolve: async () => [] }).fetch('http://nowhere.example'), failsWith('network'));
  });

  for (const url of ['', 'nonsense', 'ftp://example.com', 'file:///etc/passwd', 'http://user:pw@example.com']) {
    test(`${JSON.stringify(url)} is a bad URL`, () => assert.rejects(client().fetch(url), failsWith('bad_url')));
  }

  test('nothing listening is a network error whose message names no address', async () => {
    const base = await listen((_, reply) => reply.end());
    await cleanups.pop()?.();
    await assert.rejects(client({ allowLoopback: true }).fetch(base), (error: Error) => {
      assert.equal(error.message, 'Target could not be reached');
      return failsWith('network')(error);
    });
  });
});

describe('redirects', () => {
  test('are followed, relative ones too, and the final address is told', async () => {
    const base = await listen((request, reply) => {
      if (request.url === '/end') return reply.end('end');
      reply.writeHead(302, { location: request.url === '/' ? '/middle' : 'end' }).end('moved');
    });
    const answer = await client({ allowLoopback: true }).fetch(base);
    assert.equal(answer.url, `${base}/end`);
    assert.equal(await answer.text(), 'end');
  });

  test('are checked at every hop', async () => {
    const targets = [
      'http://10.0.0.1/',
      'http://[::ffff:169.254.169.254]/',
      'ftp://example.com/',
      'http://a:b@example.com/',
    ];
    const base = await listen((request, reply) => {
      reply.writeHead(302, { location: targets[Number(request.url?.slice(1))] }).end();
    });
    const outbound = client({ allowLoopback: true });
    await assert.rejects(outbound.fetch(`${base}/0`), failsWith('blocked'));
    await assert.rejects(outbound.fetch(`${base}/1`), failsWith('blocked'));
    await assert.rejects(outbound.fetch(`${base}/2`), failsWith('bad_url'));
    await assert.rejects(outbound.fetch(`${base}/3`), failsWith('bad_url'));
  });

  test('end after the given number, and can be turned off', async () => {
    let hits = 0;
    const base = await listen((_, reply) => {
      hits += 1;
      reply.writeHead(302, { location: '/' }).end();
    });
    const outbound = client({ allowLoopback: true });
    await assert.rejects(outbound.fetch(base, { redirects: 3 }), failsWith('redirects'));
    assert.equal(hits, 4);
    const answer = await outbound.fetch(base, { redirects: 0 });
    assert.equal(answer.status, 302);
    answer.cancel();
  });

  test('to another origin leave secrets behind; a 303 becomes a GET without a body', async () => {
    const seen: Record<string, unknown>[] = [];
    const record: RequestListener = (request, reply) => {
      seen.push({ method: request.method, auth: request.headers.authorization, type: request.headers['content-type'] });
      reply.end();
    };
    const other = await listen(record);
    const base = await listen((_, reply) => reply.writeHead(303, { location: other }).end());
    const headers = { authorization: 'Bearer x', 'content-type': 'text/plain' };
    const answer = await client({ allowLoopback: true }).fetch(base, { method: 'POST', headers, body: 'hello' });
    await answer.bytes();
    assert.deepEqual(seen, [{ method: 'GET', auth: undefined, type: undefined }]);
  });

  test('to another origin take no header along that could be a secret, and no body', async () => {
    const seen: string[][] = [];
    const other = await listen((request, reply) => {
      seen.push(Object.keys(request.headers));
      reply.end();
    });
    const base = await listen((_, reply) => reply.writeHead(307, { location: other }).end());
    const outbound = client({ allowLoopback: true });
    const secrets = { 'api-key': 'a', 'x-api-key': 'b', 'x-goog-api-key': 'c', 'private-token': 'd', Cookie: 'e' };
    await (await outbound.fetch(base, { headers: { ...secrets, accept: 'text/html' } })).bytes();
    assert.deepEqual(
      seen[0]!.filter((name) => !['host', 'connection', 'accept-encoding'].includes(name)),
      ['user-agent', 'accept'],
    );
    await assert.rejects(outbound.fetch(base, { method: 'POST', body: 'a secret' }), failsWith('redirects'));
    assert.equal(seen.length, 1, 'nobody was told');
  });
});

describe('bodies', () => {
  const page = 'Grüße '.repeat(2000);
  for (const [coding, packed] of Object.entries({
    identity: Buffer.from(page),
    gzip: gzipSync(page),
    br: brotliCompressSync(page),
    deflate: deflateSync(page),
    'deflate, gzip': gzipSync(deflateRawSync(page)),
  })) {
    test(`${coding} is unpacked`, async () => {
      const base = await listen((_, reply) => reply.writeHead(200, { 'content-encoding': coding }).end(packed));
      assert.equal(await (await client({ allowLoopback: true }).fetch(base)).text(), page);
    });
  }

  const zeros = Buffer.alloc(20_000_000);
  for (const [coding, packed] of Object.entries({
    identity: zeros,
    gzip: gzipSync(zeros),
    br: brotliCompressSync(zeros),
    deflate: deflateSync(zeros),
    'gzip, gzip': gzipSync(gzipSync(zeros)),
  })) {
    test(`20 MB as ${coding} end at the cap`, async () => {
      const base = await listen((_, reply) => reply.writeHead(200, { 'content-encoding': coding }).end(packed));
      const answer = await client({ allowLoopback: true }).fetch(base, { maxBytes: 1_000_000 });
      await assert.rejects(answer.bytes(), failsWith('too_large'));
    });
  }

  test('an unknown encoding, many layers and rubbish are network errors', async () => {
    const base = await listen((request, reply) => {
      reply
        .writeHead(200, { 'content-encoding': request.url?.slice(1).replaceAll('-', ',') })
        .end(Buffer.alloc(64, 0xff));
    });
    const outbound = client({ allowLoopback: true });
    for (const path of ['constructor', 'gzip-gzip-gzip', 'gzip', 'br']) {
      const answer = await outbound.fetch(`${base}/${path}`);
      await assert.rejects(answer.text(), failsWith('network'), path);
    }
  });

  test('a body sent with a request arrives, and JSON comes back', async () => {
    const base = await listen((request, reply) => {
      void request.toArray().then((chunks) => reply.end(JSON.stringify({ got: Buffer.concat(chunks).toString() })));
    });
    const answer = await client({ allowLoopback: true }).fetch(base, { method: 'POST', body: 'hello' });
    assert.deepEqual(await answer.json(), { got: 'hello' });
  });

  test('each request has a connection of its own, so a kept one that the server closed harms none', async () => {
    const sockets = new Set<unknown>();
    const base = await listen((request, reply) => {
      assert.equal(request.headers.connection, 'close');
      sockets.add(request.socket);
      reply.end('x');
    });
    const outbound = client({ allowLoopback: true });
    for (let i = 0; i < 3; i += 1) assert.equal(await (await outbound.fetch(base)).text(), 'x');
    assert.equal(sockets.size, 3);
  });

  test('stopping early ends the connection', async () => {
    let closed: () => void;
    const gone = new Promise<void>((resolve) => (closed = resolve));
    const base = await listen((_, reply) => {
      reply.on('close', () => closed());
      reply.write('first');
    });
    const answer = await client({ allowLoopback: true }).fetch(base);
    for await (const chunk of answer.body) {
      assert.equal(Buffer.from(chunk).toString(), 'first');
      break;
    }
    await gone;
  });
});

describe('time', () => {
  const drip: RequestListener = (_, reply) => {
    const timer = setInterval(() => reply.write('x'), 20);
    reply.on('close', () => clearInterval(timer));
  };

  test('no answer', async () => {
    const base = await listen(() => {});
    await assert.rejects(client({ allowLoopback: true }).fetch(base, { timeout: 50 }), failsWith('timeout'));
    await assert.rejects(client({ allowLoopback: true, idleTimeout: 50 }).fetch(base), failsWith('timeout'));
  });

  test('a name server that does not answer', async () => {
    const outbound = client({ connectTimeout: 50, resolve: () => new Promise(() => {}) });
    await assert.rejects(outbound.fetch('http://slow.example'), failsWith('timeout'));
    await assert.rejects(outbound.fetch('http://slow.example', { timeout: 20 }), failsWith('timeout'));
  });

  test('a body that stalls, and one that drips for ever', async () => {
    const stalled = await listen((_, reply) => reply.write('x'));
    const all = async (outbound: Outbound, ...args: Parameters<Outbound['fetch']>) =>
      (await outbound.fetch(...args)).text();
    await assert.rejects(all(client({ allowLoopback: true, idleTimeout: 60 }), stalled), failsWith('timeout'));
    await assert.rejects(
      all(client({ allowLoopback: true }), await listen(drip), { timeout: 150 }),
      failsWith('timeout'),
    );
  });

  test('a compressed body that drips for ever', async () => {
    const packed = gzipSync(Buffer.alloc(100_000, 'abc'));
    const base = await listen((_, reply) => {
      reply.writeHead(200, { 'content-encoding': 'gzip' }).write(packed.subarray(0, 50));
    });
    const answer = await client({ allowLoopback: true }).fetch(base, { timeout: 100 });
    await assert.rejects(answer.text(), failsWith('timeout'));
  });

  test('redirects share one deadline', async () => {
    const base = await listen((_, reply) => {
      setTimeout(() => reply.writeHead(302, { location: '/' }).end(), 30);
    });
    const outbound = client({ allowLoopback: true });
    await assert.rejects(outbound.fetch(base, { timeout: 100, redirects: 1000 }), failsWith('timeout'));
  });

  test('the caller’s signal ends it with the signal’s reason', async () => {
    const base = await listen(drip);
    const controller = new AbortController();
    const answer = await client({ allowLoopback: true }).fetch(base, { signal: controller.signal });
    const reason = new Error('enough');
    queueMicrotask(() => controller.abort(reason));
    await assert.rejects(answer.text(), (error) => error === reason);
    const late = client({ allowLoopback: true }).fetch(base, { signal: controller.signal });
    await assert.rejects(late, (error) => error === reason);
  });

  test('a connection that breaks while nobody reads harms nothing', async () => {
    const base = await listen((request, reply) => {
      reply.writeHead(200, { 'content-length': 100 }).write('x', () => request.socket.destroy());
    });
    const answer = await client({ allowLoopback: true }).fetch(base);
    await new Promise((resolve) => setImmediate(resolve));
    await assert.rejects(answer.text(), failsWith('network'));
  });
});

describe('answers that cost more than they bring', () => {
  test('bytes one by one are not read to the end', async () => {
    const server = createRaw((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        const body = '1\r\nx\r\n'.repeat(200_000);
        socket.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body}0\r\n\r\n`);
      });
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    cleanups.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const answer = await client({ allowLoopback: true }).fetch(`http://127.0.0.1:${port}`);
    await assert.rejects(answer.bytes(), (error: Error) => {
      assert.match(error.message, /too many small pieces/);
      return failsWith('too_large')(error);
    });
  });

  test('answers before the answer are not heard without end', async () => {
    const server = createRaw((socket) => {
      const interim = Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000));
      const go = (): void => {
        while (socket.writable && socket.write(interim));
      };
      socket.on('error', () => {}).on('drain', go);
      socket.once('data', go);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    cleanups.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const asked = client({ allowLoopback: true }).fetch(`http://127.0.0.1:${port}`);
    await assert.rejects(asked, failsWith('network'));
  });
});
