import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testWeb } from '../testing.ts';

test('the reference tells of every endpoint that this service answers, those in groups included', async () => {
  const web = await testWeb();
  try {
    const { body } = await web.server.app.inject('/docs');
    const missing = web.server.endpoints.filter(({ path }) => !body.includes(path.replaceAll('&', '&amp;')));
    assert.deepEqual(
      missing.map(({ method, path }) => `${method} ${path}`),
      [],
    );
    assert.ok(web.server.endpoints.some(({ path }) => path.startsWith('/api/underground/')));
  } finally {
    await web.stop();
  }
});
