import assert from 'node:assert/strict';
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { after, before, test } from 'node:test';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { skillMd, tarOf, zipOf } from '@troupe/testing/backups/archives';

/** Archives that are more than they seem, sent as skills and as imports, many at once, by one user. */
const ROUNDS = 3;
const AT_ONCE = 8;
const MB = 1024 * 1024;

let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

const SKILL = { path: 'SKILL.md', content: skillMd('bomb') };

/** Every entry of the list is the same packed megabytes: of 260 KB that is 10,000 times 256 MB. */
function overlapping(entries: number): Buffer {
  const plain = Buffer.alloc(256 * MB);
  const packed = deflateRawSync(plain);
  const sum = crc32(plain);
  const name = (n: number): Buffer => Buffer.from(n === 0 ? 'SKILL.md' : `${n}.bin`);
  const local = Buffer.alloc(30 + 8);
  local.writeUInt32LE(0x04034b50, 0);
  local.writeUInt16LE(8, 8);
  local.writeUInt16LE(8, 26);
  local.write('SKILL.md', 30);
  const list = Array.from({ length: entries }, (_, n) => {
    const head = Buffer.alloc(46);
    head.writeUInt32LE(0x02014b50, 0);
    head.writeUInt16LE(8, 10);
    head.writeUInt32LE(sum, 16);
    head.writeUInt32LE(packed.length, 20);
    // It says that it is small.
    head.writeUInt32LE(10, 24);
    head.writeUInt16LE(name(n).length, 28);
    return Buffer.concat([head, name(n)]);
  });
  const central = Buffer.concat(list);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries, 8);
  end.writeUInt16LE(entries, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(local.length + packed.length, 16);
  return Buffer.concat([local, packed, central, end]);
}

const many = (count: number) => Array.from({ length: count }, (_, n) => ({ path: `files/${n}.md`, content: `# ${n}` }));

const ARCHIVES: Readonly<Record<string, () => Buffer>> = {
  'a file of 256 MB': () => zipOf([SKILL, { path: 'zeros.bin', content: Buffer.alloc(256 * MB) }]),
  'ten thousand entries that are one': () => overlapping(10_000),
  'a tar of 300 MB': () => gzipSync(Buffer.concat([tarOf([SKILL]).subarray(0, 1024), Buffer.alloc(300 * MB)])),
  'ten thousand files': () => zipOf([SKILL, ...many(9_999)]),
  'ten thousand files in a tar': () => gzipSync(tarOf([SKILL, ...many(9_999)])),
  'more entries than anybody lists': () => zipOf([SKILL, ...many(60_000)]),
};

const WAYS = ['/api/skills/reviews/archive', '/api/imports/preview?name=a.zip', '/api/imports?name=a.zip'] as const;

async function sent(path: string, bytes: Buffer): Promise<number> {
  const { cookie } = scene.attacker;
  const answer = await fetch(scene.web + path, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/octet-stream' },
    body: new Uint8Array(bytes),
  });
  await answer.text();
  return answer.status;
}

for (const [name, make] of Object.entries(ARCHIVES))
  test(`${name}: refused one after the other, and nobody waits for it`, { timeout: 120_000 }, async () => {
    const bytes = make();
    const before = scene.memory();
    const statuses = new Set<number>();
    let most = 0;
    await scene.unharmed(async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const all = Array.from({ length: AT_ONCE }, (_, n) => sent(WAYS[n % WAYS.length]!, bytes));
        for (const status of await Promise.all(all)) statuses.add(status);
        most = Math.max(most, scene.memory() - before);
      }
    });
    assert.deepEqual(
      [...statuses].filter((status) => ![400, 429].includes(status)),
      [],
    );
    assert.ok(statuses.has(400), 'none of them was looked into');
    assert.ok(most < 250, `the process grew by ${Math.round(most)} MB`);
  });

test('a skill of ten thousand files, each said by itself', { timeout: 60_000 }, async () => {
  const files = Array.from({ length: 10_000 }, (_, n) => ({ path: `${n}.md`, content: 'x'.repeat(900) }));
  const statuses: number[] = [];
  await scene.unharmed(async () => {
    const asked = Array.from({ length: 4 }, () => scene.attacker.ask('POST', '/api/skills/reviews', { files }));
    for (const { status } of await Promise.all(asked)) statuses.push(status);
  });
  assert.ok(
    statuses.every((status) => status === 400 || status === 429),
    statuses.join(),
  );
  const { body } = await scene.attacker.ask('GET', '/api/skills');
  assert.deepEqual(body.reviews, []);
});
