import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gatewayOf, openAiCall } from './addresses.ts';

test('the gateway of an agent is where its web chat is', () => {
  assert.equal(
    gatewayOf('ws://127.0.0.1:3001/api/runtime/proxy/a1/ws?token=x.y/ws?z'),
    'http://127.0.0.1:3001/api/runtime/proxy/a1',
  );
  assert.equal(gatewayOf('wss://a1.agents.example.org/ws?token=x'), 'https://a1.agents.example.org');
  assert.match(openAiCall('https://a1.example.org', 'a1'), /base_url='https:\/\/a1\.example\.org\/v1'/);
});
