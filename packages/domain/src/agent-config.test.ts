import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultAgentConfig, domainAllowed, readAgentConfig } from './agent-config.ts';

test('the default configuration', () => {
  assert.deepEqual(defaultAgentConfig('m'), {
    version: '1.0',
    model: { default: 'm', fallbacks: [] },
    channels: {
      channelA: { enabled: false },
      channelB: { enabled: false },
      channelC: { enabled: false },
      webchat: { enabled: true },
    },
    memory: { maxEntries: 1000, ttlDays: 90 },
    cron: { heartbeatIntervalMinutes: 180 },
    safety: { maxTokensPerDay: 1_000_000, allowedDomains: [] },
  });
});

test('a configuration keeps what it does not know and names what is wrong', () => {
  const given = readAgentConfig({ mine: { a: 1 }, memory: { maxEntries: 5 } });
  assert.ok(given.ok);
  assert.deepEqual(given.config.mine, { a: 1 });
  assert.equal(given.config.memory.ttlDays, 90);
  assert.deepEqual(readAgentConfig([]), { ok: false, error: 'Invalid config object' });
  const wrong = readAgentConfig({ safety: { allowedDomains: ['http://x'] } });
  assert.ok(!wrong.ok);
  assert.match(wrong.error, /^Invalid config object: safety\.allowedDomains\.0/);
});

test('allowed domains cover themselves and what lies below', () => {
  assert.ok(domainAllowed('API.example.com.', ['example.com']));
  assert.ok(!domainAllowed('badexample.com', ['example.com']));
  assert.ok(!domainAllowed('example.com', ['*.example.com']));
  assert.ok(domainAllowed('a.example.com', ['*.example.com']));
});
