import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { createWorkerPool } from '@troupe/kernel';
import { docx, pptx, xlsx, zip } from '@troupe/testing/documents/documents';
import { makeWorkspace, type Workspace } from './workspace.ts';

let root: string;
let workspace: Workspace;
const pool = createWorkerPool();
before(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'troupe-extract-'));
  workspace = await makeWorkspace(root, { pool, owner: 'somebody' });
});
after(async () => {
  await pool.close();
  await rm(root, { recursive: true });
});

const stream = (text: string | Buffer, about = '') =>
  `<< /Length ${text.length} ${about} >>\nstream\n${text.toString('latin1' as never)}\nendstream`;
const packed = (text: string) => stream(deflateSync(Buffer.from(text, 'latin1')), '/Filter /FlateDecode');

/** A file of these objects, numbered from 1. */
const pdf = (...objects: string[]): Buffer =>
  Buffer.from(
    `%PDF-1.7\n${objects.map((one, index) => `${index + 1} 0 obj\n${one}\nendobj`).join('\n')}\ntrailer << /Root 1 0 R >>`,
    'latin1',
  );

const page = (content: string, more = '') =>
  pdf(
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 /Resources << /Font << /F1 5 0 R >> >> >>',
    '<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>',
    content,
    `<< /Type /Font /Subtype /Type1 /Widths [${'500 '.repeat(256)}] /FirstChar 0 ${more} >>`,
    packed('begincmap 1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfrange <61> <7a> <0430> endbfrange'),
  );

async function extracted(name: string, bytes: Buffer, most = 10_000) {
  await writeFile(path.join(root, name), bytes);
  return workspace.extract(name, most);
}

test('the words of a PDF are read, letter by letter where it puts them so', async () => {
  const { kind, text } = await extracted(
    'a.pdf',
    page(
      packed('BT /F1 10 Tf 20 700 Td (Ber) Tj 15 0 Td (lin) Tj 40 0 Td (5 May) Tj 0 -12 Td [(Fee:) -400 (12)] TJ ET'),
    ),
  );
  assert.equal(kind, 'pdf');
  assert.equal(text, 'Berlin 5 May\nFee: 12');
});

test('a font says what its letters mean, by a table or by names', async () => {
  const mapped = await extracted('b.pdf', page(stream('BT /F1 10 Tf (abc) Tj ET'), '/ToUnicode 6 0 R'));
  assert.equal(mapped.text, 'абв');
  const named = page(stream('BT /F1 10 Tf (a\\261) Tj ET'), '/Encoding << /Differences [177 /Euro] >>');
  assert.equal((await extracted('c.pdf', named)).text, 'a€');
});

test('what a file is is told by its bytes, not by its name', async () => {
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  assert.deepEqual(await extracted('not-a-picture.txt', png), {
    kind: 'picture',
    mime: 'image/png',
    bytes: png.length,
  });
  assert.equal((await extracted('picture.png', Buffer.from('words'))).kind, 'text');
  assert.equal((await extracted('x.bin', Buffer.from([0, 1, 2, 255]))).kind, 'other');
  const long = await extracted('long.txt', Buffer.from('x'.repeat(50)), 20);
  assert.deepEqual([long.text?.length, long.cut], [20, true]);
});

test('documents of office programs, pages and mails are read, in whichever letters', async () => {
  const word = docx(['Lease', 'Heading1'], 'The rent is 900 &amp; due.', [
    ['Month', 'Rent'],
    ['May', '900'],
  ]);
  const about = await extracted('lease.docx', word);
  assert.deepEqual(
    [about.kind, about.mime.split('.').at(-1), about.text],
    ['other', 'document', '# Lease\n\nThe rent is 900 & due.\n\n| Month | Rent |\n| May | 900 |'],
  );
  // Its bytes say what it is, whatever it is called.
  assert.match((await extracted('lease.html', word)).text ?? '', /The rent is 900/);
  const sheet = await extracted('staff.xlsx', xlsx({ Staff: [['Name'], ['Ada']] }));
  assert.equal(sheet.text, '[Sheet Staff]\n\n# Staff\n\n| Name |\n| Ada |');
  assert.match((await extracted('talk.pptx', pptx(['Plan', 'first this']))).text ?? '', /# Plan\n\nfirst this/);
  const page = await extracted('page.html', Buffer.from('<title>x</title><script>no()</script><p>Fare &euro; 4</p>'));
  assert.deepEqual([page.kind, page.mime, page.text], ['text', 'text/html', 'Fare € 4']);
  const mail = 'From: Ann <ann@people.example>\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\r\nSee you';
  assert.match((await extracted('old.eml', Buffer.from(mail))).text ?? '', /# Grüße\n\nFrom: Ann .*\n\nSee you/);
  assert.equal((await extracted('a.txt', Buffer.from('\ufeffGrüße', 'utf16le'))).text, 'Grüße');
  assert.equal((await extracted('b.txt', Buffer.from('Gr\u00fc\u00dfe', 'latin1'))).text, 'Grüße');
});

test('of a long document as much is read as there is room for; one that cannot be read is told', async () => {
  const rows = Array.from({ length: 2000 }, (_, n) => [`Name ${n}`, n]);
  const long = await extracted('long.xlsx', xlsx({ Staff: rows }), 500);
  assert.deepEqual([long.text?.length, long.cut], [500, true]);
  const old = await extracted('old.doc', Buffer.from('d0cf11e0a1b11ae1', 'hex'));
  assert.match(old.note ?? '', /old office program.*Save it as docx/);
  // 300 MB in 300 KB.
  const bomb = zip({ 'word/document.xml': Buffer.alloc(300 * 1024 * 1024, 'x') });
  assert.match((await extracted('bomb.docx', bomb)).note ?? '', /cannot be unpacked/);
  assert.match((await extracted('empty.docx', docx())).note ?? '', /no text/);
  // What has no words is no document that went wrong.
  assert.deepEqual(Object.keys(await extracted('a.zip', zip({ 'a.bin': 'x' }))), ['kind', 'mime', 'bytes']);
});

test('one that is locked, scanned, broken or hostile is told in a sentence', async () => {
  const locked = Buffer.concat([page(stream('')), Buffer.from(' /Encrypt 9 0 R')]);
  assert.match((await extracted('locked.pdf', locked)).note ?? '', /locked by a password/);
  assert.match((await extracted('scanned.pdf', page(stream('')))).note ?? '', /no text/);
  assert.match((await extracted('broken.pdf', Buffer.from('%PDF-1.7 nothing else'))).note ?? '', /no text/);
  // 200 MB of zeros in 200 KB.
  const bomb = deflateSync(Buffer.alloc(200 * 1024 * 1024));
  assert.match((await extracted('bomb.pdf', page(stream(bomb, '/Filter /FlateDecode')))).note ?? '', /cannot be read/);
  const deep = page(stream(`${'['.repeat(200_000)}(x) Tj`));
  assert.match((await extracted('deep.pdf', deep)).note ?? '', /no text/);
  const ring = pdf(
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Kids [2 0 R 3 0 R] >>',
    '<< /Kids [2 0 R] /Length 3 0 R >>',
  );
  assert.match((await extracted('ring.pdf', ring)).note ?? '', /no text/);
});

test('a file comes in under a free name, within its bounds, whole or not at all', async () => {
  async function* bytes(...parts: string[]) {
    for (const part of parts) yield Buffer.from(part);
  }
  const options = { maxBytes: 10, fresh: true };
  assert.deepEqual(await workspace.put('uploads/p.txt', bytes('one'), options), { path: 'uploads/p.txt', bytes: 3 });
  assert.equal((await workspace.put('uploads/p.txt', bytes('two'), options)).path, 'uploads/p-2.txt');
  // Many at once, in a folder that is not there yet: each gets a name of its own.
  const many = await Promise.all(
    Array.from({ length: 8 }, (_, n) => workspace.put('new/q.txt', bytes(`${n}`), options)),
  );
  assert.equal(new Set(many.map(({ path: at }) => at)).size, 8);
  await assert.rejects(workspace.put('uploads/p.txt', bytes('12345', '678901'), options), { name: 'TooLarge' });
  await assert.rejects(workspace.put('../out.txt', bytes('x'), options), /outside of the workspace/);
  const { entries } = await workspace.browse('uploads');
  assert.deepEqual(
    entries.map(({ name, bytes: size, kind }) => [name, size, kind]),
    [
      ['p-2.txt', 3, 'file'],
      ['p.txt', 3, 'file'],
    ],
  );
});
