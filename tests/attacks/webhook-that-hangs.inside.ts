import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { SITES } from '@troupe/testing/machine/closed-network';

/** Runs in a network that holds a webhook's server on a public address; started by the test of the same name. */

const MESSAGES = 40;
/** Of the others' messages. One that hangs is given up after five seconds. */
const BOUND_MS = 2_000;

type Actor = Scene['attacker'];

let scene: Scene;
const knocks = new EventEmitter();
let open = 0;
let most = 0;
const hook = net.createServer((socket) => {
  open += 1;
  most = Math.max(most, open);
  knocks.emit(`knock ${open}`);
  socket.on('error', () => socket.destroy());
  socket.once('close', () => (open -= 1));
  socket.resume();
});

before(async () => {
  await new Promise<void>((resolve) => hook.listen(443, SITES['allowed.test'], resolve));
  scene = await startScene();
});
after(async () => {
  await scene.stop();
  hook.close();
});

/** Everybody may write to the agent. */
async function openDoor({ ask, agentId }: Actor): Promise<void> {
  const door = await ask('PUT', `/api/underground/doors/${agentId}`, { open: true, messagesPerSender: 1000 });
  assert.equal(door.status, 200, JSON.stringify(door.body));
}

async function sender(): Promise<Actor> {
  const who = await scene.person();
  assert.equal((await who.askBackend('POST', '/api/underground/wallets', { agentId: who.agentId })).status, 201);
  return who;
}

async function write(from: Actor, to: Actor): Promise<string> {
  const messageId = crypto.randomUUID();
  const message = {
    version: '1.0',
    messageId,
    timestamp: new Date().toISOString(),
    from: { agentId: from.agentId },
    to: { agentId: to.agentId },
    action: 'HELLO',
    payload: {},
  };
  const signed = await from.askBackend('POST', '/api/underground/bus/sign', { message });
  assert.equal(signed.status, 200, JSON.stringify(signed.body));
  const sent = await from.askBackend('POST', '/api/underground/bus/send', signed.body.message);
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  return messageId;
}

const stateOf = async (messageId: string): Promise<string> =>
  (
    await scene.database.db.system
      .selectFrom('bus_messages')
      .select('status')
      .where('message_id', '=', messageId)
      .executeTakeFirstOrThrow()
  ).status;

/** How long it takes until the message is there. */
async function delivered(from: Actor, to: Actor): Promise<number> {
  const began = performance.now();
  const messageId = await write(from, to);
  while ((await stateOf(messageId)) === 'queued') await delay(20);
  assert.equal(await stateOf(messageId), 'delivered');
  return performance.now() - began;
}

test('messages to a webhook that hangs', { timeout: 90_000 }, async () => {
  const { attacker, bystander } = scene;
  const [eve, ann] = [await sender(), await sender()];
  await Promise.all([attacker, bystander].map(openDoor));
  const webhookUrl = 'https://allowed.test/hook';
  assert.equal((await attacker.ask('PUT', `/api/agents/${attacker.agentId}/config`, { webhookUrl })).status, 200);
  await delivered(ann, bystander);
  const slowest = { ms: 0 };
  await scene.unharmed(async () => {
    const hanging = once(knocks, 'knock 2');
    for (let n = 0; n < MESSAGES; n += 1) await write(eve, attacker);
    await hanging;
    for (let n = 0; n < 5; n += 1) slowest.ms = Math.max(slowest.ms, await delivered(ann, bystander));
  });
  assert.ok(slowest.ms < BOUND_MS, `a message of somebody else took ${Math.round(slowest.ms)} ms`);
  assert.equal(most, 2, 'messages of one owner that are on their way');
});
