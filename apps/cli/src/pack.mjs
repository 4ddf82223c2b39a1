import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { EXIT, Problem } from './problem.mjs';

const BLOCK = 512;
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_FILES = 5000;
const SKIPPED = new Set(['.git', 'node_modules', '.DS_Store']);

/**
 * A folder as tar.gz. Links and devices are left out, and named.
 * @param {string} folder
 */
export async function packed(folder) {
  /** @type {Buffer[]} */
  const parts = [];
  /** @type {string[]} */
  const left = [];
  let [bytes, count] = [0, 0];
  for (const file of await filesIn(folder, '', left)) {
    const content = await readFile(path.join(folder, file));
    [bytes, count] = [bytes + content.length, count + 1];
    if (bytes > MOST_BYTES || count > MOST_FILES)
      throw new Problem(`${folder} has more than ${MOST_FILES} files or 64 MB`, EXIT.failed);
    const name = Buffer.from(file.split(path.sep).join('/'));
    if (name.length > 100)
      parts.push(
        head(Buffer.from('././@LongLink'), name.length + 1, 'L'),
        padded(Buffer.concat([name, Buffer.alloc(1)])),
      );
    parts.push(head(name.subarray(0, 100), content.length, '0'), padded(content));
  }
  parts.push(Buffer.alloc(2 * BLOCK));
  return { bytes: await promisify(gzip)(Buffer.concat(parts)), left };
}

/**
 * @param {string} folder
 * @param {string} below
 * @param {string[]} left
 * @returns {Promise<string[]>}
 */
async function filesIn(folder, below, left) {
  const entries = await readdir(path.join(folder, below), { withFileTypes: true });
  /** @type {string[]} */
  const found = [];
  for (const entry of entries) {
    const at = path.join(below, entry.name);
    if (SKIPPED.has(entry.name)) continue;
    if (entry.isDirectory()) found.push(...(await filesIn(folder, at, left)));
    else if (entry.isFile()) found.push(at);
    else left.push(at);
  }
  return found.sort();
}

/**
 * @param {Buffer} name
 * @param {number} size
 * @param {string} type
 */
function head(name, size, type) {
  const block = Buffer.alloc(BLOCK);
  name.copy(block);
  block.write('0000644\0', 100);
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  block.write('        ', 148);
  block.write(type, 156);
  block.write('ustar', 257);
  block.write('00', 263);
  const sum = block.reduce((all, one) => all + one, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** @param {Buffer} content */
const padded = (content) => Buffer.concat([content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)]);
