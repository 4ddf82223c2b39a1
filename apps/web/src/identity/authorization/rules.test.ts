import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { audienceOf } from './audience.ts';
import { isDescription, readDocument } from './clients.ts';
import { isRedirect, matchesRedirect } from './redirects.ts';

describe('rules', () => {
  test('about where people are sent back to', () => {
    for (const good of ['https://a.example/cb', 'http://localhost:1/x', 'http://[::1]/x', 'vscode://x', 'com.a.b://y'])
      assert.ok(isRedirect(good), good);
    for (const bad of ['http://a.example', 'data://x', 'JAVASCRIPT://x', 'file:///etc', 'https://u:p@a', 'a', 'x:y'])
      assert.ok(!isRedirect(bad), bad);
    assert.ok(matchesRedirect('http://127.0.0.1:5/cb', ['http://127.0.0.1/cb']));
    assert.ok(!matchesRedirect('http://127.0.0.1:5/other', ['http://127.0.0.1/cb']));
    assert.ok(!matchesRedirect('https://a.example:5/cb', ['https://a.example/cb']));
    assert.ok(!matchesRedirect('http://127.0.0.1:5/cb', ['https://127.0.0.1/cb']));
  });

  test('about programs that are the address of their description', () => {
    const id = 'https://app.example/client.json';
    const document = { client_id: id, client_name: 'App', redirect_uris: ['https://app.example/cb'] };
    assert.equal(readDocument(id, JSON.stringify(document))?.name, 'App');
    assert.equal(readDocument(id, JSON.stringify({ ...document, client_name: 'A\u202Epp' }))?.name, 'A pp');
    assert.equal(readDocument(id, JSON.stringify({ ...document, client_id: 'https://other.example/x' })), undefined);
    assert.equal(readDocument(id, JSON.stringify({ ...document, redirect_uris: ['http://x.example'] })), undefined);
    assert.equal(readDocument(id, '[]'), undefined);
    assert.ok(isDescription(id));
    for (const bad of ['http://a.example/x', 'https://a.example', 'https://a.example/', 'https://u@a.example/x', 'x'])
      assert.ok(!isDescription(bad), bad);
  });

  test('about what a resource is', () => {
    const places = {
      origins: ['https://t.example'],
      backendUrl: 'http://10.0.0.1:3001',
      agentsDomain: 'agents.example',
    };
    const of = (resource: string) => audienceOf(resource, places);
    assert.equal(of('https://t.example/mcp'), 'platform');
    assert.equal(of('https://t.example/api/runtime/proxy/agent-a/mcp'), 'agent-a');
    assert.equal(of('http://10.0.0.1:3001/api/runtime/proxy/agent-a/mcp'), 'agent-a');
    assert.equal(of('https://agent-a.agents.example/mcp'), 'agent-a');
    for (const bad of [
      'https://evil.example/mcp',
      'https://evil.example/api/runtime/proxy/agent-a/mcp',
      'https://agent-a.agents.example.evil/mcp',
      'https://agent-a.agents.example/other',
      'https://t.example/mcp?x=1',
      'https://t.example/',
      'mcp',
    ])
      assert.equal(of(bad), undefined, bad);
  });
});
