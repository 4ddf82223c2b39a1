import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leadsTo } from './workspace-path.ts';

test('what an address in a text leads to', () => {
  const file = (path: string) => ({ to: 'file', path });
  assert.deepEqual(leadsTo('out/r.md'), file('out/r.md'));
  assert.deepEqual(leadsTo('./out//my%20r.md#top'), file('out/my r.md'));
  assert.deepEqual(leadsTo('/out/100%.md?raw'), file('out/100%.md'));
  assert.deepEqual(leadsTo('../secret.md'), { to: 'nowhere' });
  assert.deepEqual(leadsTo('a/%2e%2e/b.md'), { to: 'nowhere' });
  assert.deepEqual(leadsTo('a%2f..%2fb.md'), { to: 'nowhere' });
  assert.deepEqual(leadsTo('https://ann@example.com:8080/a'), { to: 'web', host: 'example.com:8080' });
  assert.deepEqual(leadsTo('https://\u0430pple.example/'), { to: 'web', host: 'xn--pple-43d.example' });
  assert.deepEqual(leadsTo('https://%'), { to: 'web', host: 'https://%' });
});
