import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { needs } from '@troupe/testing/machine/needs';
import { send, type Body } from '@troupe/testing/services/people';
import { addUser, startServices, type Services } from '@troupe/testing/services/services';

/** Pictures that a run makes, by code and in the browser: through web and backend, from the question to the page that shows them. */

/** A picture of one point. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

interface Spoken {
  role: string;
  content: unknown;
}
interface Step {
  type: string;
  tool?: string;
  content?: string;
  isError?: boolean;
  attachments?: { path: string; kind: string; mime: string }[];
}

describe('pictures that a run makes', { skip: needs('chromium', 'bubblewrap'), timeout: 240_000 }, () => {
  let services: Services;
  let model: StandIn;
  let key: string;
  const shop = http.createServer((_, response) =>
    response.setHeader('content-type', 'text/html').end('<title>Shop</title><h1>Orders</h1>'),
  );
  before(async () => {
    await new Promise<void>((resolve) => void shop.listen(0, '127.0.0.1', resolve));
    const { port } = shop.address() as AddressInfo;
    const calls = [
      {
        name: 'run_code',
        args: {
          language: 'javascript',
          code: `require('fs').writeFileSync('chart.png', Buffer.from('${PNG}', 'base64')); console.log('drawn')`,
        },
      },
      { name: 'browser_open', args: { url: `http://127.0.0.1:${port}/` } },
      { name: 'browser_screenshot', args: {} },
    ];
    model = await createStandIn((request, response) => {
      const said = (request.body['messages'] ?? []) as Spoken[];
      const call = calls[said.filter(({ role }) => role === 'tool').length];
      if (!call) return replyChat(request, response, { content: 'Both are there.' });
      const toolCalls = [{ id: `c-${call.name}`, name: call.name, arguments: JSON.stringify(call.args) }];
      replyChat(request, response, { content: null, toolCalls });
    });
    const env = { OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: model.url };
    services = await startServices({ ...env, AGENT_PRIVATE_HOSTS: `127.0.0.1:${port}` });
    ({ key } = await addUser(services.runtime, { plan: 'network' }));
  });
  after(async () => {
    await services?.stop();
    await model?.close();
    shop.close().closeAllConnections();
  });

  const ask = async (method: string, path: string, body?: unknown): Promise<Body> =>
    (await send(services.web + path, method, body, { authorization: `Bearer ${key}` })).body;

  test('one written by code and one of the browser stand in the run, as files that can be fetched', async () => {
    const { agent } = await ask('POST', '/api/agents/provision', {
      name: 'Ada',
      model: 'openai/gpt-4o-mini',
      config: { tools: ['code', 'browser'] },
    });
    const answer = await ask('POST', '/api/chat', { message: 'Draw, and look', agentId: agent.id, topic: 'pictures' });
    assert.match(JSON.stringify(answer), /Both are there/);
    const { sessions } = await ask('GET', `/api/agents/${agent.id}/sessions`);
    const shown = await ask('GET', `/api/agents/${agent.id}/sessions/${sessions[0].id}`);
    const results = (shown.events as Step[]).filter(({ type }) => type === 'tool_result');
    assert.deepEqual(
      results.map(({ tool, attachments = [] }) => [tool, ...attachments.map(({ kind, mime }) => `${kind} ${mime}`)]),
      [['run_code', 'picture image/png'], ['browser_open'], ['browser_screenshot', 'picture image/jpeg']],
      JSON.stringify(results),
    );
    for (const { path } of results.flatMap(({ attachments = [] }) => attachments)) {
      const url = `${services.web}/api/agents/${agent.id}/files/content?path=${encodeURIComponent(path)}`;
      const file = Buffer.from(await (await fetch(url, { headers: { authorization: `Bearer ${key}` } })).arrayBuffer());
      assert.match(file.toString('hex'), path.endsWith('.png') ? /^89504e47/ : /^ffd8ff/, path);
    }
    // The model has seen both, too.
    const last = JSON.stringify(model.requests.at(-1)!.body['messages']);
    assert.match(last, /chart\.png.*data:image\/png;base64.*screenshots\/.*data:image\/jpeg;base64/s);
  });
});
