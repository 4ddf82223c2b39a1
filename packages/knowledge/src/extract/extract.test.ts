import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createWorkerPool } from '@troupe/kernel';
import { docx, pdf, pptx, presentation, xlsx, zip } from '@troupe/testing/documents/documents';
import { extract } from './extract.ts';

const pool = createWorkerPool();
after(() => pool.close());

const read = async (name: string, bytes: Buffer | string, mime?: string) =>
  extract(pool, 'somebody', { bytes: new Uint8Array(Buffer.from(bytes as string)), name, mime });

async function passages(name: string, bytes: Buffer | string, mime?: string) {
  const found = await read(name, bytes, mime);
  assert.ok(found.ok, JSON.stringify(found));
  return found.passages.map(({ heading, place, text }) => [place, heading, text]);
}
const refusal = async (name: string, bytes: Buffer | string) => {
  const found = await read(name, bytes);
  return found.ok ? `read as ${found.kind}` : found.error;
};

test('Markdown is cut at its headings; a fence is no heading, a table keeps its head', async () => {
  const text =
    '---\ntitle: x\n---\n# Harbour\n\nOpen all day.\n\n## Fees\n\n| Boat | Fee |\n|---|---|\n| small | 5 |\n\n```\n# no heading\n```\n\nPaid\n====\nin cash';
  assert.deepEqual(await passages('a.md', text), [
    ['', 'Harbour', 'Open all day.'],
    ['', 'Harbour › Fees', '| Boat | Fee |\n| small | 5 |\n\n```\n# no heading\n```'],
    ['', 'Paid', 'in cash'],
  ]);
});

test('pages of the web: what is said, without what stands around it', async () => {
  const html =
    '<!doctype html><title>Ferry</title><nav>Home | About</nav><h1>Ferry &amp; fares</h1><p>Runs <b>daily</b>.<script>var p = "<p>no</p>"</script><ul><li>one<li>two</ul><table><tr><th>From<th>Fare<tr><td>Bay<td>€&nbsp;4</table><!-- <p>hidden</p> --><footer>Imprint</footer>';
  assert.deepEqual(await passages('page', html, 'text/html'), [
    ['', 'Ferry & fares', 'Runs daily.\n\n- one\n- two\n\n| From | Fare |\n| Bay | € 4 |'],
  ]);
});

test('office files: text, sheets with days, slides', async () => {
  const word = docx(['Lease', 'Heading1'], 'The rent is 900 &amp; due monthly.', [
    ['Month', 'Rent'],
    ['May', '900'],
  ]);
  assert.deepEqual(await passages('a.docx', word), [
    ['', 'Lease', 'The rent is 900 & due monthly.\n\n| Month | Rent |\n| May | 900 |'],
  ]);
  const sheet = xlsx(
    {
      Staff: [
        ['Name', 'Since'],
        ['Ada', 45_000],
      ],
      Empty: [],
    },
    [1],
  );
  assert.deepEqual(await passages('a.xlsx', sheet), [
    ['Sheet Staff', 'Staff', '| Name | Since |\n| Ada | 2023-03-15 |'],
  ]);
  assert.deepEqual(await passages('a.pptx', pptx(['Plan', 'First', 'Second'], ['End', 'Thanks'])), [
    ['Slide 1', 'Plan', 'First\nSecond'],
    ['Slide 2', 'End', 'Thanks'],
  ]);
});

test('slides are read in the order in which they are shown; one that was taken out is not', async () => {
  const slides: [string, string][] = ['One', 'Two', 'Three'].map((title) => [title, `About ${title}`]);
  assert.deepEqual(await passages('a.pptx', presentation(slides, [3, 1])), [
    ['Slide 1', 'Three', 'About Three'],
    ['Slide 2', 'One', 'About One'],
  ]);
  // One that says nothing of an order has them by their numbers.
  assert.deepEqual(
    (await passages('a.pptx', presentation(slides, []))).map(([place, heading]) => [place, heading]),
    [
      ['Slide 1', 'One'],
      ['Slide 2', 'Two'],
      ['Slide 3', 'Three'],
    ],
  );
});

test('a PDF says on which page, a mail from whom, a table which column', async () => {
  const long = 'Words about the harbour. '.repeat(20);
  const found = await passages('a.pdf', pdf([long, `${long}\nThe lighthouse`]));
  assert.deepEqual(
    found.map(([place]) => place),
    ['Page 1', 'Page 2'],
  );
  assert.match(found[1]![2]!, /The lighthouse$/);
  const mail =
    'From: =?utf-8?q?J=C3=B6rg?= <j@example.org>\r\nDate: Fri, 5 May 2023 10:00:00 +0000\r\nSubject: Offer\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nThe price is 12=E2=82=AC.\r\n--b\r\nContent-Type: application/pdf; name="offer.pdf"\r\nContent-Disposition: attachment; filename="offer.pdf"\r\n\r\nxxx\r\n--b--\r\n';
  assert.deepEqual(await passages('a.eml', mail), [
    [
      '',
      'Offer',
      'From: Jörg <j@example.org>\nDate: Fri, 5 May 2023 10:00:00 +0000\n\nThe price is 12€.\n\nAttached: offer.pdf',
    ],
  ]);
  assert.deepEqual(await passages('a.csv', 'city;note\n"Bay; old";"says ""hi"""\n'), [
    ['', '', '| city | note |\n| Bay; old | says "hi" |'],
  ]);
});

test('what is too long is cut between sentences, then words; nothing is lost or too long', async () => {
  const text = `${Array.from({ length: 300 }, (_, n) => `Sentence number ${n} is here.`).join(' ')}\n\n${'x'.repeat(5000)}`;
  const found = await passages('a.txt', text);
  assert.ok(found.every(([, , said]) => said!.length <= 1400));
  const all = found.map(([, , said]) => said).join(' ');
  assert.ok(Array.from({ length: 300 }, (_, n) => n).every((n) => all.includes(`Sentence number ${n} is here.`)));
  assert.equal(all.match(/x/g)?.length, 5000);
});

test('what cannot be read is told in a sentence', async () => {
  assert.match(await refusal('a.pdf', pdf(['words'], '/Encrypt 9 0 R')), /locked by a password/);
  assert.match(await refusal('scan.pdf', pdf([''])), /no text: it may be scanned/);
  assert.equal(await refusal('a.pdf', 'plain words'), 'The name says a PDF, and the file is text.');
  assert.equal(
    await refusal('a.docx', xlsx({ A: [['x']] })),
    'The name says a Word document, and the file is an Excel sheet.',
  );
  assert.equal(await refusal('a.txt', pdf(['words'])), 'read as pdf');
  assert.match(await refusal('a.txt', Buffer.from('89504e470d0a1a0a0000', 'hex')), /it is a picture/);
  assert.match(
    await refusal('a.doc', Buffer.from('d0cf11e0a1b11ae10000', 'hex')),
    /locked by a password\. Save it as docx/,
  );
  assert.match(await refusal('a.zip', zip({ 'a.txt': 'x' })), /it is an archive/);
  assert.match(await refusal('a.docx', zip({ 'word/document.xml': 'x' }).subarray(0, 60)), /cannot be unpacked/);
  assert.match(await refusal('a.bin', Buffer.from([0, 1, 2, 255])), /neither text nor/);
  assert.equal(await refusal('a.txt', ''), 'The file is empty.');
  assert.equal(await refusal('a.txt', '  \n '), 'There is no text in it.');
});

test('hostile documents end in a sentence or a bound, and the pool works on', async () => {
  // 200 MB of blanks in 200 KB.
  assert.match(
    await refusal('bomb.docx', zip({ 'word/document.xml': Buffer.alloc(200 * 1024 * 1024, 32) })),
    /too large/,
  );
  const laughs =
    '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><w:document><w:p><w:t>&b; end</w:t></w:p></w:document>';
  assert.deepEqual(await passages('laughs.docx', zip({ 'word/document.xml': laughs })), [['', '', '&b; end']]);
  const many = await read('many.pdf', pdf(Array.from({ length: 10_000 }, (_, n) => `Page ${n} says something.`)));
  assert.ok(many.ok && many.passages.length > 0);
  assert.deepEqual(many.notes, ['Only the first 1,000 pages were read.']);
  const cells = Array.from({ length: 10_000 }, () =>
    Array.from({ length: 100 }, (_, n) =>
      n % 2 ? '<c><f>SUM(A1:XFD1048576)</f><v>1</v></c>' : '<c><v>1</v></c>',
    ).join(''),
  );
  const sheet = `<worksheet><sheetData>${cells.map((row) => `<row>${row}</row>`).join('')}</sheetData></worksheet>`;
  const million = await read(
    'million.xlsx',
    zip({ 'xl/workbook.xml': '<sheet name="A"/>', 'xl/worksheets/sheet1.xml': sheet }),
  );
  assert.ok(million.ok);
  assert.deepEqual(million.notes, ['Only the first 200,000 cells were read.']);
  // Strings, lists and streams that ask for many megabytes at once ended the process.
  assert.match(await refusal('string.pdf', pdf(['word '.repeat(8_000_000)])), /has a string that is too long/);
  const inside = (content: string): Buffer => Buffer.from(`%PDF-1.7\n1 0 obj\n${content}\nendobj`, 'latin1');
  assert.match(await refusal('list.pdf', inside(`[${'1 '.repeat(12_000_000)}]`)), /has a list that is too long/);
  const endless = await read('endless.txt', 'ж'.repeat(10_000_000));
  assert.ok(endless.ok, JSON.stringify(endless));
  assert.deepEqual(endless.notes, ['Only the first 8 million characters were read.']);
  const right = '<row><c r="ALL1"><v>1</v></c></row>'.repeat(190_000);
  const wide = await read(
    'wide.xlsx',
    zip({
      'xl/workbook.xml': '<sheet name="A"/>',
      'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${right}</sheetData></worksheet>`,
    }),
  );
  assert.ok(wide.ok, JSON.stringify(wide));
  assert.deepEqual(wide.notes, ['Only the first 200,000 cells were read.']);
  const deep = await read('deep.html', '<div>'.repeat(200_000) + 'words');
  assert.ok(deep.ok);
  const nested = 'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n'.repeat(2000);
  assert.match(await refusal('nested.eml', `From: a\r\n${nested}`), /read as email|no text/);
  assert.equal((await read('after.txt', 'still here')).ok, true);
});

test('a million words cost the one who waits for them little', { timeout: 120_000 }, async () => {
  const bytes = Buffer.from(
    Array.from({ length: 1_000_000 }, (_, n) => ((n * 2_654_435_761) % 2 ** 32).toString(36))
      .join(' ')
      .slice(0, 7e6),
  );
  await read('warm.txt', 'the thread is there');
  const before = process.threadCpuUsage();
  const found = await read('words.txt', bytes);
  const { user, system } = process.threadCpuUsage(before);
  assert.ok(found.ok && found.passages.length > 5000, JSON.stringify(found).slice(0, 300));
  // Of the processor: what a busy machine adds is not counted.
  assert.ok(user + system < 200_000, `this thread worked for ${Math.round((user + system) / 1000)} ms`);
});
