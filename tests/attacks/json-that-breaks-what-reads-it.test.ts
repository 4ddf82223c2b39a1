import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { elsewhere } from '@troupe/testing/services/people';
import { sendRaw } from '@troupe/testing/http/raw';

/** Half characters, zeros and thousands of levels made endpoints answer 500 or 502, one of them to anybody. */

let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

const internal = () => ({
  'content-type': 'application/json',
  authorization: `Bearer ${TEST_SECRETS.internalKey}`,
  'x-client-ip': elsewhere(),
});

const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const BAD: readonly [what: string, value: string, error: RegExp][] = [
  ['half a character', String.raw`"a\ud800b"`, /valid Unicode/],
  ['a zero', String.raw`"a\u0000b"`, /Null characters/],
  ['5,000 levels', deep(5000), /nested deeper than 64 levels/],
];

/** [service, method, path, field that takes a text or an object] */
const PLACES: readonly ['web' | 'backend', string, string, string][] = [
  ['web', 'POST', '/api/register', 'name'],
  ['web', 'POST', '/api/agents/provision', 'name'],
  ['web', 'POST', '/api/chat', 'message'],
  ['web', 'POST', '/api/provision', 'name'],
  ['web', 'POST', '/api/demo/chat', 'conversation'],
  ['web', 'POST', '/api/scheduled-tasks', 'name'],
  ['web', 'POST', '/api/config', 'config'],
  ['web', 'POST', '/api/devices', 'name'],
  ['backend', 'POST', '/api/underground/events', 'name'],
  ['backend', 'POST', '/api/underground/bus/send', 'payload'],
  ['backend', 'POST', '/api/deployments', 'config'],
  ['backend', 'POST', '/v1/chat/completions', 'messages'],
];

for (const [what, value, error] of BAD)
  test(`${what} in a body is a 400 with a sentence everywhere, also as a key`, async () => {
    const { cookie, id, email } = scene.attacker;
    for (const [service, method, path, field] of PLACES) {
      const headers = {
        ...internal(),
        ...(service === 'web' ? { cookie } : { 'x-user-id': id, 'x-user-email': email }),
      };
      const key = value.startsWith('"') ? `{${value}:1}` : value;
      for (const body of [`{"${field}":${value}}`, `{"extra":{"a":[${key}]}}`]) {
        const reply = await sendRaw(scene[service], { method, path, headers, body });
        assert.deepEqual([reply.status, error.test(reply.text)], [400, true], `${method} ${path}: ${reply.text}`);
      }
    }
  });

test('the same holds at an agent’s gateway and in its WebSocket', async () => {
  const { agentId } = scene.attacker;
  const gatewayToken = await scene.attacker.token();
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${gatewayToken}` };
  for (const [what, value, error] of BAD) {
    const reply = await sendRaw(scene.backend, {
      method: 'POST',
      path: `/api/runtime/proxy/${agentId}/execute`,
      headers,
      body: `{"taskId":"t","prompt":${value}}`,
    });
    assert.deepEqual([reply.status, error.test(reply.text)], [400, true], `${what}: ${reply.text}`);
  }
  const socket = new WebSocket(
    `${scene.backend.replace('http', 'ws')}/api/runtime/proxy/${agentId}/ws?token=${gatewayToken}`,
  );
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error('the socket did not open'));
  });
  for (const [what, value, error] of BAD) {
    const heard = new Promise<string>((resolve) => (socket.onmessage = ({ data }) => resolve(String(data))));
    socket.send(`{"type":"message","content":${value}}`);
    assert.match(await heard, error, what);
  }
  socket.close();
});

test('a zero in a query or a path is a 400', async () => {
  const { cookie } = scene.attacker;
  for (const path of ['/api/scheduled-tasks?agentId=a%00b', '/api/agents/a%00b', '/api/nothing/%00']) {
    const reply = await sendRaw(scene.web, { path, headers: { ...internal(), cookie } });
    assert.deepEqual([reply.status, reply.text], [400, '{"error":"Null characters are not allowed"}'], path);
  }
});

test('what is meant as text stays text', async () => {
  const message = String.raw`a \u0000 and [[[[ "quoted" \\u0000 😀`;
  const { status } = await scene.attacker.chat({ say: message });
  assert.equal(status, 200);
  const levels = deep(60);
  const reply = await sendRaw(scene.web, {
    method: 'POST',
    path: '/api/demo/chat',
    headers: internal(),
    body: `{"message":"hi","conversation":[${levels}]}`,
  });
  assert.equal(reply.status, 200, reply.text);
});

/** They were told that the field is missing. */
test('a text that is too long is told so', async () => {
  const { agentId, ask } = scene.attacker;
  const task = { name: 'n', cronSchedule: '0 9 * * *', prompt: 'p', agentId };
  const cases: [method: string, path: string, body: object, error: string][] = [
    ['POST', '/api/scheduled-tasks', { ...task, name: 'x'.repeat(201) }, 'Name too long (max 200)'],
    ['POST', '/api/scheduled-tasks', { ...task, prompt: 'x'.repeat(100_001) }, 'Prompt too long (max 100000)'],
    ['POST', '/api/chat', { message: 'x'.repeat(100_001) }, 'Message too long (max 100000)'],
  ];
  for (const [method, path, body, error] of cases)
    assert.deepEqual(await ask(method, path, body), { status: 400, body: { error } });
});
