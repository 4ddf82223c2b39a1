import assert from 'node:assert/strict';
import { createVerify, generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { testSettings } from '@troupe/testing/http/server';
import { ProviderError } from '../errors.ts';
import { providerOf } from '../setup.ts';
import { createStandIn, replyChat, type StandIn } from '../stand-in.ts';
import type { ChatRequest } from '../types.ts';

const ASK: ChatRequest = { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 100 };
const make = (kind: string, given: object) => providerOf(testSettings({}), { kind, name: `my-${kind}`, ...given });

let upstream: StandIn;
before(async () => (upstream = await createStandIn()));
after(() => upstream.close());

describe('azure', () => {
  test('asks under the resource’s address with its own header, and by the new name for the limit', async () => {
    upstream.answer((request, response) => replyChat(request, response));
    const azure = make('azure', { baseUrl: upstream.url, apiKey: 'secret', models: ['my-gpt', 'my-small'] });
    const { message } = await azure.chat('my-gpt', ASK);
    assert.equal(message.content, 'Hello from the provider.');
    const { path, headers, body } = upstream.requests.at(-1)!;
    assert.deepEqual(
      [path, headers['api-key'], headers.authorization],
      ['/openai/v1/chat/completions', 'secret', undefined],
    );
    assert.deepEqual([body['model'], body['max_completion_tokens'], body['max_tokens']], ['my-gpt', 100, undefined]);
    assert.deepEqual(await azure.models(), [{ id: 'my-gpt' }, { id: 'my-small' }]);
    await azure.close();
  });

  test('an address with a path is taken as it is; without models it lists what there is', async () => {
    const azure = make('azure', { baseUrl: `${upstream.url}/gateway/openai/v1`, apiKey: 'secret' });
    assert.deepEqual(await azure.models(), [{ id: 'listed-model' }]);
    assert.equal(upstream.requests.at(-1)!.path, '/gateway/openai/v1/models');
    await azure.close();
  });
});

describe('vertex', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const asked: URLSearchParams[] = [];
  let answer: (count: number) => { status: number; body: string };
  const issuer = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += String(chunk)));
    request.on('end', () => {
      asked.push(new URLSearchParams(text));
      const { status, body } = answer(asked.length);
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
  });
  before(() => new Promise<void>((ready) => issuer.listen(0, '127.0.0.1', ready)));
  after(() => issuer.close());
  const issue = (seconds: number) => (count: number) => ({
    status: 200,
    body: JSON.stringify({ access_token: `token-${count}`, expires_in: seconds, token_type: 'Bearer' }),
  });
  const account = (): string =>
    JSON.stringify({
      type: 'service_account',
      project_id: 'my-project',
      private_key_id: 'k1',
      private_key: privateKey,
      client_email: 'robot@my-project.iam.example',
      token_uri: `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/token`,
    });
  const vertex = (given: object = {}) =>
    make('vertex', { baseUrl: upstream.url, apiKey: account(), models: ['google/gemini-2.5-flash'], ...given });

  test('one signed word of the account is one token for all that ask at once, until it ends', async () => {
    upstream.answer((request, response) => replyChat(request, response));
    answer = issue(3600);
    const provider = vertex();
    await Promise.all([1, 2, 3].map(() => provider.chat('google/gemini-2.5-flash', ASK)));
    assert.equal(asked.length, 1);
    const [head = '', claims = '', signature = ''] = asked[0]!.get('assertion')!.split('.');
    assert.ok(createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(publicKey, signature, 'base64url'));
    const said = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>;
    assert.equal(said['iss'], 'robot@my-project.iam.example');
    assert.equal(said['scope'], 'https://www.googleapis.com/auth/cloud-platform');
    assert.equal(Number(said['exp']) - Number(said['iat']), 3600);
    const { path, headers, body } = upstream.requests.at(-1)!;
    assert.equal(path, '/v1/projects/my-project/locations/global/endpoints/openapi/chat/completions');
    assert.deepEqual([headers.authorization, body['model']], ['Bearer token-1', 'google/gemini-2.5-flash']);
    await provider.close();
  });

  test('a token that is about to end is not used again', async () => {
    answer = issue(30);
    const provider = vertex();
    await provider.chat('m', ASK);
    const first = upstream.requests.at(-1)!.headers.authorization;
    await provider.chat('m', ASK);
    assert.notEqual(upstream.requests.at(-1)!.headers.authorization, first);
    await provider.close();
  });

  test('an account that is refused is told as such, and the next call tries again', async () => {
    answer = () => ({ status: 400, body: '{"error":"invalid_grant"}' });
    const provider = vertex();
    const refused = (error: unknown) =>
      error instanceof ProviderError &&
      error.status === 401 &&
      error.detail === 'the service account was refused (400)';
    await assert.rejects(provider.chat('m', ASK), refused);
    answer = () => ({ status: 200, body: '<html>' });
    await assert.rejects(provider.chat('m', ASK), /is no JSON/);
    answer = issue(3600);
    await provider.chat('m', ASK);
    await provider.close();
  });

  test('a key that is no account says what is wrong with it, and nothing of it', () => {
    assert.throws(
      () => vertex({ apiKey: 'AIza-plain' }),
      /^Error: the key must be the JSON file of a service account$|Unusable: the key must be/,
    );
    assert.throws(
      () => vertex({ apiKey: '{"project_id":"p","private_key":"hidden"}' }),
      (error: Error) => {
        assert.match(error.message, /client_email is missing or wrong/);
        return !error.message.includes('hidden');
      },
    );
  });

  test('it lists nothing: without models it says so', async () => {
    await assert.rejects(vertex({ models: [] }).models(), /say which ones it has/);
  });
});
