import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { test } from 'node:test';
import { testServer } from '@troupe/testing/http/server';

/** Holds up the loop again and again until told to stop. */
function keepLate(): () => void {
  let isOver = false;
  const turn = (): void => {
    const until = performance.now() + 40;
    while (performance.now() < until);
    if (!isOver) setTimeout(turn, 1);
  };
  turn();
  return () => {
    isOver = true;
  };
}

test(
  'while the loop is late and much is under way, whoever has something under way is told to come again',
  { timeout: 60_000 },
  async () => {
    const server = testServer();
    const waiting: (() => void)[] = [];
    server.app.get('/slow', () => new Promise((resolve) => waiting.push(() => resolve({}))));
    server.app.get('/quick', () => ({}));
    server.app.get('/v1/quick', { config: { errorShape: 'openai' } }, () => ({}));
    const url = await server.listen(0, 'WEB_PORT');
    const agent = new http.Agent({ keepAlive: true, maxSockets: Infinity });
    const ask = async (path: string, who: string) => {
      const request = http.get(url + path, { agent, headers: { cookie: `session=${who}` } });
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      let text = '';
      for await (const piece of response) text += String(piece);
      return { status: response.statusCode, headers: response.headers, body: JSON.parse(text) as unknown };
    };
    const asked = Array.from({ length: 220 }, (_, n) => ask('/slow', `user-${n}`));
    while (waiting.length < 220) await new Promise(setImmediate);
    assert.equal((await ask('/quick', 'user-1')).status, 200, 'much is not too much');
    const stop = keepLate();
    try {
      let refused = await ask('/quick', 'user-1');
      while (refused.status === 200) {
        await ask('/quick', 'user-2');
        refused = await ask('/quick', 'user-1');
      }
      assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '2']);
      assert.deepEqual(refused.body, { error: 'The service is busy. Try again in a moment.' });
      assert.equal(refused.headers['x-content-type-options'], 'nosniff');
      assert.equal((await ask('/quick', 'somebody else')).status, 200, 'a first question');
      assert.equal((await ask('/ready', 'user-1')).status, 200);
      const counted = /http_requests_total\{[^}]*route="\/quick",status="503"\} (\d+)/;
      const text = await (await fetch(`${url}/metrics`)).text();
      assert.ok(Number(counted.exec(text)?.[1]) > 0, text);
      const shaped = await ask('/v1/quick', 'user-1');
      assert.equal(shaped.status, 503);
      assert.equal(typeof (shaped.body as { error: { message: string } }).error.message, 'string');
      const alone = performance.now() + 1100;
      while (performance.now() < alone) await ask('/quick', 'user-1');
      assert.equal((await ask('/quick', 'user-1')).status, 200, 'whoever is alone');
      waiting.splice(0).forEach((finish) => finish());
      await Promise.all(asked);
      assert.equal((await ask('/quick', 'user-1')).status, 200, 'little is never too much');
    } finally {
      stop();
      waiting.splice(0).forEach((finish) => finish());
      agent.destroy();
      await server.close();
    }
  },
);
