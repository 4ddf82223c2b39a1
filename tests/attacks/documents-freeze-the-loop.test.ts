import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { docx, pdf, zip } from '@troupe/testing/documents/documents';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { elsewhere } from '@troupe/testing/services/people';

// A document is bytes that somebody chose: whoever reads it must end, lose nothing that was there, and keep nobody waiting.
let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

const MB = 1024 * 1024;
/** As programs lock a zip: a bit in front of the file, and in the list. */
function locked(bytes: Buffer): Buffer {
  const made = Buffer.from(bytes);
  made[6]! |= 1;
  for (let at = made.indexOf('PK\x01\x02'); at >= 0; at = made.indexOf('PK\x01\x02', at + 1)) made[at + 8]! |= 1;
  return made;
}
const cells = '<c><f>SUM(A1:XFD1048576)</f><v>1</v></c>'.repeat(100);
const sheet = `<worksheet><sheetData>${`<row>${cells}</row>`.repeat(10_000)}</sheetData></worksheet>`;
const wide = `<worksheet><sheetData>${'<row><c r="ALL1"><v>1</v></c></row>'.repeat(190_000)}</sheetData></worksheet>`;
const workbook = (content: string): Buffer =>
  zip({ 'xl/workbook.xml': '<sheet name="A"/>', 'xl/worksheets/sheet1.xml': content });

/** What each of them comes to: a sentence why it is not read, or what was left out. */
const HOSTILE: [name: string, bytes: Buffer, told: RegExp][] = [
  ['bomb.docx', zip({ 'word/document.xml': Buffer.alloc(200 * MB, 32) }), /too large/],
  [
    'bomb.pptx',
    zip({ 'ppt/presentation.xml': '<p/>', 'ppt/slides/slide1.xml': Buffer.alloc(200 * MB, 32) }),
    /too large/,
  ],
  ['bomb.pdf', pdf(['word '.repeat(8_000_000)]), /cannot be read|too much time or memory|Only the first/],
  ['many.pdf', pdf(Array.from({ length: 10_000 }, (_, n) => `Page ${n} says something.`)), /first 1,000 pages/],
  ['million.xlsx', workbook(sheet), /first 200,000 cells/],
  ['wide.xlsx', workbook(wide), /first 200,000 cells|too much time or memory/],
  ['million.csv', Buffer.from('1,2,3,4,5,6,7,8,9,10\n'.repeat(100_000)), /first 200,000 cells/],
  ['locked.pdf', pdf(['x'], '/Encrypt 9 0 R'), /locked by a password/],
  ['locked.docx', locked(docx('secret words')), /cannot be unpacked/],
  ['wrong.pdf', Buffer.from('plain words'), /The name says a PDF, and the file is text/],
  ['picture.txt', Buffer.from('89504e470d0a1a0a0000', 'hex'), /it is a picture/],
  ['deep.html', Buffer.from(`${'<div>'.repeat(400_000)}deep`), /^$/],
];

async function upload(collectionId: string, name: string, bytes: Buffer): Promise<string> {
  const { attacker, web } = scene;
  const answer = await fetch(`${web}/api/knowledge/${collectionId}/documents/file?name=${encodeURIComponent(name)}`, {
    method: 'POST',
    body: new Uint8Array(bytes),
    headers: {
      cookie: attacker.cookie,
      authorization: `Bearer ${TEST_SECRETS.internalKey}`,
      'x-client-ip': elsewhere(),
      'content-type': 'application/octet-stream',
    },
  });
  const body = (await answer.json()) as { id: string };
  assert.equal(answer.status, 201, `${name}: ${JSON.stringify(body)}`);
  return body.id;
}

interface Read {
  name: string;
  state: string;
  error: string | null;
  notes: string[];
}

test(
  'hostile documents come to a sentence each, take nothing with them, and slow nobody down',
  { timeout: 300_000 },
  async () => {
    const { attacker } = scene;
    const { body: collection } = await attacker.ask('POST', '/api/knowledge', { name: 'Harbour' });
    const documents = async (): Promise<Read[]> =>
      (await attacker.ask('GET', `/api/knowledge/${collection.id}/documents`)).body.documents;
    const allRead = async (): Promise<void> => {
      while ((await documents()).some(({ state }) => state === 'waiting')) await delay(100);
    };
    const found = async (query: string): Promise<string[]> =>
      (await attacker.ask('GET', `/api/knowledge/search?query=${query}&collection=${collection.id}`)).body.passages.map(
        ({ text }: { text: string }) => text,
      );
    await upload(collection.id, 'before.txt', Buffer.from('The lighthouse keeper is called Berit.'));
    await allRead();
    await scene.unharmed(async () => {
      for (const [name, bytes] of HOSTILE) await upload(collection.id, name, bytes);
      await allRead();
    });
    await upload(collection.id, 'after.txt', Buffer.from('The ferryman is called Odd.'));
    await allRead();
    const read = new Map((await documents()).map((one) => [one.name, one]));
    for (const [name, , told] of HOSTILE) {
      const { state, error, notes } = read.get(name)!;
      assert.match(error ?? notes.join(' '), told, `${name}: ${state}`);
    }
    assert.deepEqual(await found('lighthouse'), ['The lighthouse keeper is called Berit.']);
    assert.deepEqual(await found('ferryman'), ['The ferryman is called Odd.']);
  },
);
