import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { sha256Hex } from '@troupe/kernel';
import { WebSocket } from 'ws';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/** One socket with 40,000 frames kept everybody waiting for 17 s; upgrades passed no limit at all. */

const TOKEN = 'token-of-the-attacker-0123456789';
const FRAMES = 40_000;

let scene: Scene;
before(async () => {
  scene = await startScene();
  await sql`update agents set token_hash = ${sha256Hex(TOKEN)} where id = ${scene.attacker.agentId}`.execute(
    scene.database.db.system,
  );
});
after(() => scene.stop());

const connect = (): WebSocket =>
  new WebSocket(`${scene.backend.replace('http', 'ws')}/api/runtime/proxy/${scene.attacker.agentId}/ws?token=${TOKEN}`);

/** How it ends: the code of the WebSocket, or the status that it was refused with. */
async function endOf(socket: WebSocket): Promise<{ code: number; why: string }> {
  const refused = new Promise<{ code: number; why: string }>((resolve) => {
    socket.once('unexpected-response', (_request, response) => {
      resolve({ code: response.statusCode ?? 0, why: '' });
      response.destroy();
    });
  });
  const closed = once(socket, 'close').then(([code, why]) => ({ code: Number(code), why: String(why) }));
  socket.on('error', () => undefined);
  return Promise.race([refused, closed]);
}

async function sessionOfAttacker(): Promise<string> {
  await scene.attacker.chat({ say: 'hello' });
  const { rows } = await sql<{ id: string }>`select id from agent_sessions
    where agent_id = ${scene.attacker.agentId} and last_seq > 0 limit 1`.execute(scene.database.db.system);
  return rows[0]?.id ?? '';
}

test('who sends frames without end is told so and let go', { timeout: 120_000 }, async () => {
  const session = await sessionOfAttacker();
  const before = scene.memory();
  await scene.unharmed(async () => {
    const socket = connect();
    const end = endOf(socket);
    await once(socket, 'open');
    for (let n = 0; n < FRAMES && socket.readyState === socket.OPEN; n += 1) {
      socket.send(JSON.stringify({ type: 'watch', session }));
      if (n % 200 === 0) await nextTurn();
    }
    const { code, why } = await end;
    assert.deepEqual([code, why], [1008, 'More than 20 frames a second']);
  });
  assert.ok(scene.memory() - before < 150);
});

for (const kind of ['ping', 'pong'] as const)
  test(`so is who sends nothing but ${kind}s`, { timeout: 60_000 }, async () => {
    await scene.unharmed(async () => {
      const socket = connect();
      const end = endOf(socket);
      await once(socket, 'open');
      for (let n = 0; n < FRAMES && socket.readyState === socket.OPEN; n += 1) {
        socket[kind]('x'.repeat(125));
        if (n % 200 === 0) await nextTurn();
      }
      assert.deepEqual(await end, { code: 1008, why: 'More than 20 frames a second' });
    });
  });

/** A message may come in pieces: of none of them is the end there, so nothing was counted but its bytes. */
for (const [what, bytes, code] of [
  ['of nothing', 0, 1008],
  ['of a byte', 1, 1008],
  ['that are too large together', 20_000, 1009],
] as const)
  test(`a message in pieces ${what}`, { timeout: 60_000 }, async () => {
    const before = scene.memory();
    await scene.unharmed(async () => {
      const sockets = Array.from({ length: 10 }, connect);
      await Promise.all(
        sockets.map(async (socket) => {
          const end = endOf(socket);
          await once(socket, 'open');
          for (let n = 0; n < FRAMES && socket.readyState === socket.OPEN; n += 1) {
            socket.send('x'.repeat(bytes), { fin: false });
            if (n % 200 === 0) await nextTurn();
          }
          // Who still sends may see the connection end before the words.
          assert.ok([code, 1006].includes((await end).code));
        }),
      );
    });
    assert.ok(scene.memory() - before < 100);
  });

test('a frame has a bound', async () => {
  const socket = connect();
  const end = endOf(socket);
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'message', content: 'x'.repeat(600_000) }));
  assert.equal((await end).code, 1009);
});

test('a connection follows so many conversations, each once', async () => {
  const session = await sessionOfAttacker();
  await sql`insert into agent_sessions (id, agent_id, user_id, channel, key, status, last_seq)
    select 'watched-' || n, agent_id, user_id, 'api', 'watched-' || n, 'idle', 0
    from agent_sessions, generate_series(1, 20) n where id = ${session}`.execute(scene.database.db.system);
  const socket = connect();
  const errors: string[] = [];
  socket.on('message', (data) => {
    const { type, error } = JSON.parse((data as Buffer).toString()) as { type: string; error: string };
    if (type === 'error') errors.push(error);
    if (type === 'pong') socket.emit('asked');
  });
  await once(socket, 'open');
  for (let n = 1; n <= 20; n += 1) socket.send(JSON.stringify({ type: 'watch', session: `watched-${n}` }));
  for (let n = 1; n <= 10; n += 1) socket.send(JSON.stringify({ type: 'watch', session: 'watched-1' }));
  while (errors.length < 4) await once(socket, 'message');
  socket.send(JSON.stringify({ type: 'ping' }));
  await once(socket, 'asked');
  assert.deepEqual(errors, Array(4).fill('A connection follows 16 conversations at most'));
  socket.terminate();
});

test('an agent has so many connections, and upgrades count for their address', { timeout: 60_000 }, async () => {
  const sockets = Array.from({ length: 60 }, connect);
  const opened = await Promise.all(
    sockets.map((socket) =>
      Promise.race([once(socket, 'open').then(() => 101), endOf(socket).then(({ code }) => code)]),
    ),
  );
  assert.equal(opened.filter((code) => code === 101).length, 50);
  assert.equal(opened.filter((code) => code === 429).length, 10);
  for (const socket of sockets) socket.terminate();
  const more = Array.from({ length: 150 }, connect);
  const codes = await Promise.all(
    more.map((socket) => Promise.race([once(socket, 'open').then(() => 101), endOf(socket).then(({ code }) => code)])),
  );
  for (const socket of more) socket.terminate();
  assert.ok(codes.filter((code) => code === 429).length >= 90, 'the limit of the address counts upgrades too');
});
