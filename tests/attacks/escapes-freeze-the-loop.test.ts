import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { sendRaw } from '@troupe/testing/http/raw';

/** A body of 30 MB that is one text of fifteen million escapes was read for seconds: it passed for mostly strings. */

let scene: Scene;
let key: string;
before(async () => {
  scene = await startScene();
  key = (await scene.attacker.ask('POST', '/api/keys', { name: 'attack' })).body.key;
});
after(() => scene.stop());

const TEXTS: readonly [name: string, text: string][] = [
  ['quotes', String.raw`\"`.repeat(15e6)],
  ['backslashes', String.raw`\\`.repeat(15e6)],
  ['characters', String.raw`\u0041`.repeat(5e6)],
];

test('a body of escapes is refused before it is read', { timeout: 180_000 }, async () => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const ask = (path: string, body: string) =>
    sendRaw(scene.backend, { method: 'POST', path, headers, body, timeout: 60_000 });
  await scene.unharmed(async () => {
    for (const [name, text] of TEXTS) {
      const body = `{"model":"openai/gpt-4o-mini","max_tokens":5,"messages":[{"role":"user","content":"${text}"}]}`;
      for (const path of ['/v1/chat/completions', '/v1/messages']) {
        const { status, text: said } = await ask(path, body);
        assert.equal(status, 400, `${name} at ${path}: ${said.slice(0, 200)}`);
        assert.match(said, /nor as many escapes/);
      }
    }
  });
  const plain = { messages: [{ role: 'user', content: 'A line of text.\n'.repeat(500_000) }] };
  const { status, text } = await ask('/v1/chat/completions', JSON.stringify(plain));
  assert.equal(status, 200, text.slice(0, 200));
});
