import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { entriesOf } from './skills/unpack.ts';
import { createZipWriter } from './zip.ts';

const AT = new Date('2026-05-04T10:20:30Z');

async function zipped(files: Readonly<Record<string, Buffer>>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const zip = createZipWriter(async (piece) => void pieces.push(piece));
  for (const [name, content] of Object.entries(files)) await zip.add(name, AT, Readable.from([content]));
  await zip.finish();
  return Buffer.concat(pieces);
}

test('what is packed is read again, also names in other letters, empty files and what cannot be made smaller', async () => {
  const files = {
    'notes/über 1.txt': Buffer.from('Grüße '.repeat(1000)),
    empty: Buffer.alloc(0),
    'noise.bin': randomBytes(300_000),
  };
  const bytes = await zipped(files);
  const entries = entriesOf(bytes)!;
  assert.deepEqual(
    entries.map(({ path, kind, bytes: size }) => [path, kind, size]),
    Object.entries(files).map(([name, content]) => [name, 'file', content.length]),
  );
  for (const entry of entries) assert.deepEqual(entry.read(1e6), files[entry.path as keyof typeof files]);
});

test('no name leads out of the folder that it is unpacked into, on whichever system', async () => {
  const names = ['..\\..\\Startup\\a.bat', 'C:\\a', 'd:b', 'notes/\u0007c\u009b', 'at 12:30.md'];
  const bytes = await zipped(Object.fromEntries(names.map((name) => [name, Buffer.from('x')])));
  const found = entriesOf(bytes)!.map(({ path }) => path);
  assert.deepEqual(found, ['.._.._Startup_a.bat', '__a', '_b', 'notes/_c_', 'at 12:30.md']);
});

test('another program takes it: Python reads names, sums and times', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-zip-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'a.zip'), await zipped({ 'a/b.txt': Buffer.from('hello'), empty: Buffer.alloc(0) }));
  const script = `import zipfile; z = zipfile.ZipFile('a.zip'); print(z.testzip(), [(i.filename, i.file_size, i.date_time) for i in z.infolist()])`;
  const asked = await promisify(execFile)('python3', ['-c', script], { cwd: folder }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  });
  if (!asked) return t.skip('there is no Python here');
  assert.equal(
    asked.stdout.trim(),
    `None [('a/b.txt', 5, (2026, 5, 4, 10, 20, 30)), ('empty', 0, (2026, 5, 4, 10, 20, 30))]`,
  );
});

test('who takes it no more ends it, and a source that breaks is told', async () => {
  const gone = createZipWriter(async () => {
    throw new Error('gone');
  });
  await assert.rejects(gone.add('a', AT, Readable.from([randomBytes(1_000_000)])), /gone/);
  const zip = createZipWriter(async () => {});
  async function* broken() {
    yield Buffer.from('x');
    throw new Error('the disk broke');
  }
  await assert.rejects(zip.add('a', AT, broken()), /the disk broke/);
});
