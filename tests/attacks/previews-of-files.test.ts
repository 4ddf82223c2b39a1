import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { after, before, test } from 'node:test';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { tarOf, zipOf } from '@troupe/testing/backups/archives';
import { pdf } from '@troupe/testing/documents/documents';

/** Looking into files that are made to be slow, or more than they seem: sixty looks at once of one user. */
const LOOKS = 60;
const MB = 1024 * 1024;

let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

const FILES: Readonly<Record<string, () => Buffer>> = {
  'bomb.zip': () => zipOf([{ path: 'zeros.bin', content: Buffer.alloc(200 * MB) }]),
  'bomb.tar.gz': () =>
    gzipSync(Buffer.concat([tarOf([{ path: 'a', content: 'x' }]).subarray(0, 1024), Buffer.alloc(300 * MB)])),
  'names.zip': () =>
    zipOf(Array.from({ length: 9_999 }, (_, n) => ({ path: `${'n'.repeat(200)}${n}.txt`, content: 'x' }))),
  'pages.pdf': () => pdf(Array.from({ length: 3_000 }, (_, n) => `Page ${n}. ${'Words and words. '.repeat(20)}`)),
  'nothing.pdf': () =>
    Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(8 * MB, '1 0 obj <</Length 10>> stream\n')]),
  'brackets.pdf': () => Buffer.concat([Buffer.from('%PDF-1.7\n1 0 obj '), Buffer.alloc(8 * MB, '<<')]),
  'text.txt': () => Buffer.alloc(8 * MB, 'Not much of it is new. '),
  'none.bin': () => Buffer.alloc(8 * MB, 0xff),
};

async function put(name: string, content: Buffer): Promise<void> {
  const { agentId, cookie } = scene.attacker;
  const answer = await fetch(`${scene.web}/api/agents/${agentId}/files/content?path=${name}`, {
    method: 'PUT',
    headers: { cookie, 'content-type': 'application/octet-stream' },
    body: new Uint8Array(content),
  });
  assert.equal(answer.status, 201, `${name}: ${await answer.text()}`);
}

for (const [name, make] of Object.entries(FILES))
  test(`${name} is looked into in turn, and nobody waits for it`, { timeout: 120_000 }, async () => {
    const { agentId, ask } = scene.attacker;
    await put(name, make());
    const before = scene.memory();
    const heard = new Map<number, string>();
    let most = 0;
    await scene.unharmed(async () => {
      const watching = setInterval(() => (most = Math.max(most, scene.memory() - before)), 100);
      try {
        const all = Array.from({ length: LOOKS }, () =>
          ask('GET', `/api/agents/${agentId}/files/preview?path=${name}`),
        );
        for (const { status, body } of await Promise.all(all)) heard.set(status, JSON.stringify(body).slice(0, 200));
      } finally {
        clearInterval(watching);
      }
    });
    // What takes too long is a 422 in a sentence.
    const odd = [...heard].filter(([status]) => ![200, 422, 429].includes(status));
    assert.deepEqual(odd, []);
    assert.ok(heard.has(200) || heard.has(422), 'nothing was looked into');
    assert.ok(most < 300, `the process grew by ${Math.round(most)} MB`);
  });
