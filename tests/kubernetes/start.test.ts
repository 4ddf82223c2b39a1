import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBackend } from '@troupe/backend';
import { testRuntime } from '@troupe/testing/database/runtime';

test('a kubeconfig that cannot be read stops the start with one sentence', async () => {
  const runtime = await testRuntime({ AGENT_DRIVER: 'kubernetes', KUBECONFIG: '/nowhere/kubeconfig' });
  try {
    await assert.rejects(createBackend({ ...runtime, url: 'http://127.0.0.1:3001', version: '0.0.0-test' }), {
      name: 'StartError',
      message: 'KUBECONFIG is "/nowhere/kubeconfig", which cannot be read.',
    });
  } finally {
    await runtime.close();
  }
});
