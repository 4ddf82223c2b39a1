import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionTo } from './primary.ts';

test('one address is left as it is', () => {
  for (const url of ['postgresql://a@b:1/c', 'postgres://b/c?x=1,2', 'postgresql://a:x,y@b/c'])
    assert.deepEqual(connectionTo(url), { connectionString: url });
});

test('several are one at a time', () => {
  const { connectionString, stream } = connectionTo('postgresql://u:p@a,b:1,[::1]:2/name?sslmode=disable');
  assert.equal(connectionString, 'postgresql://u:p@a:5432/name?sslmode=disable');
  assert.ok(stream);
});

test('what cannot be worked with is told', () => {
  assert.throws(() => connectionTo('postgresql://a,b/c?target_session_attrs=standby'), {
    message: 'DATABASE_URL asks for target_session_attrs=standby: only read-write can be worked with.',
  });
  assert.throws(() => connectionTo('postgresql://a,b:x/c'), {
    message: 'DATABASE_URL names "b:x" as a server, which is no host:port.',
  });
});

test('nobody takes writes: it is told as from a server that is just restarting', async () => {
  const { stream } = connectionTo('postgresql://u@127.0.0.1:1,127.0.0.1:2/c');
  const error = await new Promise<NodeJS.ErrnoException>((resolve) => stream!().on('error', resolve).connect(1));
  assert.equal(error.code, 'ECONNREFUSED');
  assert.match(error.message, /^no server takes writes: .*127\.0\.0\.1:1.*; .*127\.0\.0\.1:2/);
});
