import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { after, before, test } from 'node:test';
import { memberToken } from '@troupe/roster';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { WebSocket } from 'ws';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { steps } from '@troupe/testing/services/director';
import { send, type Body } from '@troupe/testing/services/people';

/** A paired device, and any member of the team, decided what the agent had to ask its owner for. */

let scene: Scene;
let lead: string;
let scout: string;
before(async () => {
  scene = await startScene();
  const member = (name: string) => ({
    name,
    role: 'Helper',
    description: 'Helps',
    instruction: 'Help.',
    model: 'xiaomi/mimo-v2-pro',
    memoryShared: true,
    tools: ['think', 'filesystem'],
  });
  const made = await owner().ask('POST', '/api/provision/team', {
    plan: 'network',
    customAgents: [member('chief'), member('scout')],
  });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  [lead, scout] = made.body.agents.map(({ agentId }: Body) => agentId);
  const config = { safety: { approvals: { write_file: 'ask' } } };
  const set = await owner().ask('PUT', `/api/agents/${lead}/config`, config);
  assert.equal(set.status, 200, JSON.stringify(set.body));
});
after(() => scene.stop());

const owner = () => scene.attacker;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const gateway = (method: string, path: string, token: string, body?: unknown) =>
  send(`${scene.backend}/api/runtime/proxy/${lead}${path}`, method, body, bearer(token));

async function deviceToken(): Promise<string> {
  const { token } = (await owner().ask('GET', `/api/agents/${lead}/token`)).body;
  const { deviceId, deviceSecret } = (
    await send(`${scene.web}/api/devices/pair`, 'POST', { name: 'phone' }, bearer(token))
  ).body;
  await owner().ask('POST', '/api/devices', { deviceId, action: 'approve' });
  return (await send(`${scene.web}/api/devices/pair/${deviceId}`, 'GET', undefined, bearer(deviceSecret))).body.token;
}

async function heardBy(token: string, frame: object): Promise<Body> {
  const socket = new WebSocket(`${scene.backend.replace('http', 'ws')}/api/runtime/proxy/${lead}/ws`, {
    headers: bearer(token),
  });
  const heard = new EventEmitter();
  socket.on('message', (data: Buffer) => heard.emit('message', JSON.parse(data.toString())));
  await once(socket, 'open');
  const answer = once(heard, 'message');
  socket.send(JSON.stringify(frame));
  const [message] = await answer;
  socket.close();
  return message;
}

test('neither a device nor a member of the team decides, changes or reads what is the owner’s', async () => {
  const waiting = await gateway('POST', '/execute', TEST_SECRETS.internalKey, {
    taskId: 't',
    prompt: steps({ tool: 'write_file', args: { path: 'x', content: 'y' } }, { say: 'written' }),
  });
  assert.equal(waiting.body.status, 'waiting', JSON.stringify(waiting.body));
  const [pending] = (await gateway('GET', '/approvals', TEST_SECRETS.internalKey)).body.approvals;
  const { sessionId } = waiting.body;
  const refusal = 'Only the owner may do this';
  const device = await deviceToken();
  const member = memberToken(TEST_SECRETS.sessionSecret, scout);
  for (const [who, token] of Object.entries({ device, member })) {
    const decided = await gateway('POST', `/approvals/${pending.approvalId}`, token, { approved: true });
    assert.deepEqual([decided.status, decided.body], [403, { error: refusal }], who);
    const frame = { type: 'approval', approvalId: pending.approvalId, approved: true };
    assert.deepEqual(await heardBy(token, frame), { type: 'error', error: refusal }, who);
    for (const [method, path, body] of [
      ['GET', '/approvals', undefined],
      ['GET', '/logs', undefined],
      ['GET', '/messages', undefined],
      ['GET', '/memory', undefined],
      ['PUT', '/memory', { key: 'k', content: 'planted' }],
      ['PUT', '/config', config()],
      ['POST', '/bus', { messageId: 'm', from: { agentId: 'somebody' }, action: 'pay' }],
      ['POST', '/reset', {}],
    ] as const)
      assert.equal((await gateway(method, path, token, body)).status, 403, `${who} ${path}`);
  }
  assert.equal((await gateway('GET', `/sessions/${sessionId}`, device)).status, 404, 'not its own conversation');
  assert.equal((await gateway('POST', `/sessions/${sessionId}/cancel`, device, {})).status, 404);
  assert.equal((await gateway('GET', `/sessions/${sessionId}`, member)).status, 403);
  const talked = await gateway('POST', '/v1/chat/completions', device, {
    messages: [{ role: 'user', content: steps({ say: 'hello phone' }) }],
  });
  assert.equal(talked.body.choices[0].message.content, 'hello phone', 'a device talks');
  const worked = await gateway('POST', '/execute', member, { taskId: 'w', prompt: steps({ say: 'done' }) });
  assert.equal(worked.body.output, 'done', 'a member hands over work');

  const still = (await gateway('GET', '/approvals', TEST_SECRETS.internalKey)).body.approvals;
  assert.deepEqual(
    still.map(({ approvalId }: Body) => approvalId),
    [pending.approvalId],
  );
  const own = await owner().ask('POST', `/api/agents/${lead}/approvals/${pending.approvalId}`, { approved: true });
  assert.equal(own.status, 200, JSON.stringify(own.body));
});

test('what a member shows of itself ends with its gateway token', async () => {
  const work = { taskId: 'again', prompt: steps({ say: 'done' }) };
  const hand = (generation: number) =>
    gateway('POST', '/execute', memberToken(TEST_SECRETS.sessionSecret, scout, generation), work);
  assert.equal((await owner().ask('GET', `/api/agents/${scout}/token`)).status, 200, 'it has one');
  assert.equal((await hand(0)).status, 200);
  assert.equal((await hand(1)).status, 401, 'there was no other yet');
  const rotated = await owner().ask('POST', `/api/agents/${scout}/token/rotate`, {});
  assert.equal(rotated.status, 200, JSON.stringify(rotated.body));
  assert.equal((await hand(0)).status, 401);
  assert.equal((await hand(1)).status, 200);
});

const config = () => ({ safety: { approvals: { write_file: 'allow' } } });
