import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { testUser } from '@troupe/testing/database/server';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { testBackend, type TestBackend } from '../../testing.ts';

/** Calls a tool that acts outside, and says then what came of it. */
let provider: StandIn;
let backend: TestBackend;
let base: string;
before(async () => {
  provider = await createStandIn((request, response) => {
    const messages = request.body['messages'] as { role: string; content: string | null }[];
    if (messages.at(-1)?.role === 'tool') return replyChat(request, response, { content: messages.at(-1)!.content });
    const toolCalls = [{ id: 'c', name: 'browser_open', arguments: '{"url":"https://example.com"}' }];
    replyChat(request, response, { content: null, toolCalls });
  });
  backend = await testBackend({ env: { OPENROUTER_API_KEY: 'k', OPENROUTER_BASE_URL: provider.url } });
  base = await backend.server.listen(0, 'BACKEND_PORT');
  await testUser(backend.deps.db, 'ann', { plan: 'network' });
});
after(async () => {
  await backend.stop();
  await provider.close();
});

const plan = {
  name: 'Scout',
  plan: 'network',
  model: 'xiaomi/mimo-v2-pro',
  instruction: 'Look.',
  tools: ['browser'],
  message: 'Look at example.com',
  maxUsd: 0.5,
};

async function tryOnce(body: object, headers: Record<string, string> = { 'x-user-id': 'ann' }) {
  const response = await fetch(`${base}/api/say/try`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${TEST_SECRETS.internalKey}`,
      'content-type': 'application/json',
      'x-client-ip': '10.1.1.1',
      ...headers,
    },
    body: JSON.stringify(body),
  });
  // oxlint-disable-next-line typescript/no-explicit-any -- each test says what it reads of an answer
  return { status: response.status, body: (await response.json()) as any };
}

test('what acts outside is not run in a trial, and the answer says so', async () => {
  const { status, body } = await tryOnce(plan);
  assert.equal(status, 200, JSON.stringify(body));
  assert.match(body.answer, /This is a trial/);
  assert.deepEqual(
    body.calls.map(({ tool, isRun }: { tool: string; isRun: boolean }) => [tool, isRun]),
    [['browser_open', false]],
  );
});

test('it needs somebody to try it for, and tools that there are', async () => {
  assert.deepEqual(await tryOnce(plan, {}), { status: 400, body: { error: 'User required' } });
  const unknown = await tryOnce({ ...plan, tools: ['rootkit'] });
  assert.equal(unknown.status, 400);
  assert.match(unknown.body.error, /^Unknown tool rootkit\. Known are: /);
});
