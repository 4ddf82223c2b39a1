import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, describe, test } from 'node:test';
import { WebSocket } from 'ws';
import { askBackend, person, provisioned, type Body, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

let services: Services;
let ann: Person;
let id: string;
let token: string;
before(async () => {
  services = await startServices();
  ann = await person(services, { plan: 'label' });
  id = await provisioned(ann);
  token = (await ann.ask('GET', `/api/agents/${id}/token`)).body.token;
});
after(() => services.stop());

/** As `curl -H 'Host: …'` asks, behind a proxy that ends TLS. */
async function ask(host: string, method: string, path: string, body?: unknown, bearer?: string) {
  const request = http.request(services.backend + path, {
    method,
    headers: {
      host,
      ...(bearer && { authorization: `Bearer ${bearer}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
  });
  request.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  let text = '';
  for await (const piece of response) text += String(piece);
  return { status: response.statusCode, body: JSON.parse(text) as Body };
}

describe('the name of an agent leads to its gateway', () => {
  test('the one that the replies tell', async () => {
    const { subdomain, url } = (await askBackend(services, 'GET', `/api/agents/${id}`)).body;
    assert.deepEqual([subdomain, url], [`${id}.agents.localhost`, `https://${subdomain}`]);
    assert.equal((await ann.ask('GET', `/api/agents/${id}`)).body.agent.url, url);
    const read = (await ann.ask('GET', `/api/instance/${id}`)).body;
    assert.deepEqual([read.subdomain, read.url], [subdomain, url]);
    for (const host of [subdomain, `${subdomain}:3001`, subdomain.toUpperCase().replace(id.toUpperCase(), id)]) {
      assert.equal((await ask(host, 'GET', '/health')).body.agentId ?? id, id);
      assert.equal((await ask(host, 'GET', '/sessions')).status, 401);
      const said = await ask(
        host,
        'POST',
        '/v1/chat/completions',
        { messages: [{ role: 'user', content: `hello at ${host}` }] },
        token,
      );
      assert.equal(said.status, 200, JSON.stringify(said.body));
      assert.match(said.body.choices[0].message.content, /hello at/);
    }
    assert.equal((await ask(subdomain, 'GET', '/memory?limit=1', undefined, token)).body.count, 0);
  });

  test('nothing of the platform is behind it, and no other name is taken for one', async () => {
    const host = `${id}.agents.localhost`;
    const { internalKey } = services.runtime.secrets;
    for (const path of ['/api/agents', '/api/runtime/instances', '/metrics', `/api/runtime/proxy/${id}/health`])
      assert.equal((await ask(host, 'GET', path, undefined, internalKey)).status, 404, path);
    assert.equal((await ask('agents.localhost', 'GET', '/health')).body.driver, 'embedded');
    assert.equal((await ask(`${id}.agents.localhost.example.org`, 'GET', '/health')).status, 421);
    assert.equal((await ask(`a.b.agents.localhost`, 'GET', '/health')).body.driver, 'embedded');
    assert.equal((await ask('nobody.agents.localhost', 'GET', '/sessions', undefined, token)).status, 404);
    const other = await provisioned(ann);
    assert.equal((await ask(`${other}.agents.localhost`, 'GET', '/sessions', undefined, token)).status, 401);
  });

  test('capitals make no difference, as browsers and proxies write names in small letters', async () => {
    const who = { 'x-user-id': ann.id, 'x-user-role': 'admin' };
    const deploy = (agentId: string) => askBackend(services, 'POST', '/api/deployments', { agentId, config: {} }, who);
    const made = await deploy('Grace_H');
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const own = (await ann.ask('GET', '/api/agents/Grace_H/token')).body.token;
    for (const host of ['grace_h.agents.localhost', 'GRACE_H.AGENTS.LOCALHOST', made.body.subdomain]) {
      const read = await ask(host, 'GET', '/sessions', undefined, own);
      assert.equal(read.status, 200, `${host}: ${JSON.stringify(read.body)}`);
      const socket = new WebSocket(`${services.backend.replace('http', 'ws')}/ws`, ['bearer', own], {
        headers: { host },
      });
      await once(socket, 'open');
      socket.close();
    }
    assert.deepEqual(await deploy('grace_h'), {
      status: 409,
      body: { error: 'An agent whose id differs only in capitals exists already' },
    });
    assert.equal((await ann.ask('GET', '/api/agents/grace_h')).status, 404, 'an id is what it was made as');
  });

  test('a WebSocket too, by the name and by websocketUrl', async () => {
    const newUrl = async (): Promise<string> => (await ann.ask('GET', `/api/agents/${id}`)).body.agent.websocketUrl;
    const websocketUrl = await newUrl();
    const ticket = new URL(await newUrl()).searchParams.get('token');
    const base = services.backend.replace('http', 'ws');
    for (const open of [
      () => new WebSocket(websocketUrl),
      () => new WebSocket(`${base}/ws?token=${ticket}`, { headers: { host: `${id}.agents.localhost` } }),
      () => new WebSocket(`${base}/ws`, ['bearer', token], { headers: { host: `${id}.agents.localhost` } }),
    ]) {
      const socket = open();
      const answer = await new Promise<Body>((resolve, reject) => {
        socket.on('open', () => socket.send(JSON.stringify({ type: 'message', content: 'ahoy' })));
        socket.on('message', (data) => {
          const message = JSON.parse(String(data)) as Body;
          if (message.type === 'answer') resolve(message);
        });
        socket.on('error', reject);
      });
      assert.match(answer.content, /ahoy/);
      socket.close();
    }
    const stranger = new WebSocket(`${base}/ws`, { headers: { host: `${id}.agents.localhost` } });
    const [, refused] = (await once(stranger, 'unexpected-response')) as [unknown, http.IncomingMessage];
    assert.equal(refused.statusCode, 401);
    refused.destroy();
  });
});

test('where others reach the platform, websocketUrl is the name of the agent', async () => {
  const open = await startServices({ BASE_URL: 'https://troupe.example', AGENTS_DOMAIN: 'agents.example' });
  try {
    const ben = await person(open, { plan: 'solo' });
    const agent = await provisioned(ben);
    const url = new URL((await ben.ask('GET', `/api/agents/${agent}`)).body.agent.websocketUrl);
    assert.equal(url.origin + url.pathname, `wss://${agent}.agents.example/ws`);
    const socket = new WebSocket(`${open.backend.replace('http', 'ws')}/ws${url.search}`, {
      headers: { host: url.host },
    });
    await once(socket, 'open');
    socket.close();
  } finally {
    await open.stop();
  }
});
