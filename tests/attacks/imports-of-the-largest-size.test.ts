import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { zipOf } from '@troupe/testing/backups/archives';

/** Teams of docker-agent and workspaces of OpenClaw as large as they may be sent, many at once and again and again. */
const ROUNDS = 3;
const AT_ONCE = 6;
const MB = 1024 * 1024;

let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

/** A document of about so many bytes. */
function lines(bytes: number, head: string, line: (n: number) => string): string {
  const all = [head];
  for (let size = head.length, n = 0; size < bytes; n += 1) {
    const one = line(n);
    all.push(one);
    size += one.length + 1;
  }
  return all.join('\n');
}

/** Names that stand for names that stand for names: a few lines that would be a billion. */
const LAUGHS = [
  'a0: &a0 [x, x, x, x, x, x, x, x, x]',
  ...Array.from({ length: 9 }, (_, n) => `a${n + 1}: &a${n + 1} [${Array.from({ length: 9 }, () => `*a${n}`).join()}]`),
  'agents: { root: { instruction: *a9 } }',
].join('\n');

const DOCUMENTS: Readonly<Record<string, () => Buffer>> = {
  'a document of 31 MB': () =>
    Buffer.from(lines(31 * MB, 'agents:\n  root:\n    instruction: |', (n) => `      Line ${n} of what to do.`)),
  'as many agents as fit into a document': () =>
    Buffer.from(lines(490_000, 'agents:', (n) => `  a${n}: { instruction: x }`)),
  'as many keys': () => Buffer.from(lines(490_000, 'agents: { root: { instruction: x } }', (n) => `key${n}: 1`)),
  'names for names': () => Buffer.from(LAUGHS),
  'lists within lists': () => Buffer.from(`agents: ${'['.repeat(200_000)}`),
  'a workspace of 5,000 files': () =>
    zipOf([
      { path: 'AGENTS.md', content: 'Be kind.' },
      ...Array.from({ length: 4_999 }, (_, n) => ({ path: `memory/${n}.md`, content: `It rained ${n} times.` })),
    ]),
  'a workspace of 60 MB': () =>
    zipOf([
      { path: 'AGENTS.md', content: 'Be kind.' },
      ...Array.from({ length: 3 }, (_, n) => ({
        path: `memory/${n}.md`,
        content: Buffer.alloc(20 * MB, 'It rained. '),
      })),
    ]),
  'a thousand tasks': () =>
    zipOf([
      { path: 'AGENTS.md', content: 'Be kind.' },
      {
        path: 'cron/jobs.json',
        content: JSON.stringify({
          jobs: Array.from({ length: 20_000 }, (_, n) => ({
            name: `Morning ${n}`,
            schedule: { kind: 'cron', expr: '0 7 * * *' },
            payload: { message: 'Good morning' },
          })),
        }),
      },
    ]),
};

async function sent(path: string, bytes: Buffer): Promise<{ status: number; text: string }> {
  const { cookie } = scene.attacker;
  const answer = await fetch(scene.web + path, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/octet-stream' },
    body: new Uint8Array(bytes),
  });
  return { status: answer.status, text: await answer.text() };
}

for (const [name, make] of Object.entries(DOCUMENTS))
  test(`${name}: looked into in turn, and nobody waits for it`, { timeout: 180_000 }, async () => {
    const bytes = make();
    const before = scene.memory();
    const heard = new Map<number, string>();
    let most = 0;
    await scene.unharmed(async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const all = Array.from({ length: AT_ONCE }, () => sent('/api/imports/preview?name=team.yaml', bytes));
        for (const { status, text } of await Promise.all(all)) heard.set(status, text.slice(0, 200));
        most = Math.max(most, scene.memory() - before);
      }
    });
    const odd = [...heard].filter(([status]) => ![200, 400, 429].includes(status));
    assert.deepEqual(odd, []);
    assert.ok(heard.has(200) || heard.has(400), 'none of them was looked into');
    assert.ok(most < 400, `the process grew by ${Math.round(most)} MB`);
  });
