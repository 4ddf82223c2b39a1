/**
 * A text as a QR code (ISO/IEC 18004): bytes, error correction M, versions 1 to 15, which is 412 bytes at most. Always with
 * the first mask: readers take any, and the best one is worth more code than it saves them time.
 */

/** Of each version: bytes of error correction in a block, and blocks. */
const BLOCKS: readonly (readonly [number, number])[] = [
  [10, 1],
  [16, 1],
  [26, 1],
  [18, 2],
  [24, 2],
  [16, 4],
  [18, 4],
  [22, 4],
  [22, 5],
  [26, 5],
  [30, 5],
  [22, 8],
  [22, 9],
  [24, 9],
  [24, 10],
];
/** Level M and the first mask, with their own error correction. */
const FORMAT = 0b101010000010010;

const sizeOf = (version: number): number => version * 4 + 17;

/** Where the small squares stand, along both sides. */
function alignments(version: number): number[] {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const last = sizeOf(version) - 7;
  const step = Math.ceil((last - 6) / (count - 1) / 2) * 2;
  return [6, ...Array.from({ length: count - 1 }, (_, index) => last - (count - 2 - index) * step)];
}

type Grid = { size: number; dark: Uint8Array; fixed: Uint8Array };

function set({ size, dark, fixed }: Grid, x: number, y: number, value: boolean): void {
  if (x < 0 || y < 0 || x >= size || y >= size) return;
  dark[y * size + x] = value ? 1 : 0;
  fixed[y * size + x] = 1;
}

/** Rings around a middle: dark where the distance is among `rings`. */
function square(grid: Grid, x: number, y: number, radius: number, rings: number[]): void {
  for (let dy = -radius; dy <= radius; dy += 1)
    for (let dx = -radius; dx <= radius; dx += 1)
      set(grid, x + dx, y + dy, rings.includes(Math.max(Math.abs(dx), Math.abs(dy))));
}

function drawFormat(grid: Grid): void {
  const { size } = grid;
  const bit = (index: number) => ((FORMAT >> index) & 1) === 1;
  for (let index = 0; index < 6; index += 1) {
    set(grid, 8, index, bit(index));
    set(grid, 14 - 9 - index, 8, bit(9 + index));
  }
  set(grid, 8, 7, bit(6));
  set(grid, 8, 8, bit(7));
  set(grid, 7, 8, bit(8));
  for (let index = 0; index < 8; index += 1) set(grid, size - 1 - index, 8, bit(index));
  for (let index = 8; index < 15; index += 1) set(grid, 8, size - 15 + index, bit(index));
  set(grid, 8, size - 8, true);
}

function drawVersion(grid: Grid, version: number): void {
  if (version < 7) return;
  let rest = version;
  for (let step = 0; step < 12; step += 1) rest = (rest << 1) ^ ((rest >> 11) * 0x1f25);
  const bits = (version << 12) | rest;
  for (let index = 0; index < 18; index += 1) {
    const value = ((bits >> index) & 1) === 1;
    const along = Math.floor(index / 3);
    const across = grid.size - 11 + (index % 3);
    set(grid, across, along, value);
    set(grid, along, across, value);
  }
}

/** Everything that is the same for every text. */
function frame(version: number): Grid {
  const size = sizeOf(version);
  const grid = { size, dark: new Uint8Array(size * size), fixed: new Uint8Array(size * size) };
  for (let index = 0; index < size; index += 1) {
    set(grid, 6, index, index % 2 === 0);
    set(grid, index, 6, index % 2 === 0);
  }
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    square(grid, x, y, 4, [0, 1, 3]);
  const places = alignments(version);
  const last = places.length - 1;
  places.forEach((x, column) =>
    places.forEach((y, row) => {
      const atCorner = (column === 0 && row === 0) || (column === 0 && row === last) || (column === last && row === 0);
      if (!atCorner) square(grid, x, y, 2, [0, 2]);
    }),
  );
  drawFormat(grid);
  drawVersion(grid, version);
  return grid;
}

/** In the field of 256 elements that the standard takes. */
function times(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ ((product >> 7) * 0x11d);
    product ^= ((b >> bit) & 1) * a;
  }
  return product;
}

function correction(data: Uint8Array, length: number): Uint8Array {
  const divisor = new Uint8Array(length);
  divisor[length - 1] = 1;
  let root = 1;
  for (let degree = 0; degree < length; degree += 1) {
    for (let index = 0; index < length; index += 1)
      divisor[index] = times(divisor[index]!, root) ^ (divisor[index + 1] ?? 0);
    root = times(root, 2);
  }
  const rest = new Uint8Array(length);
  for (const byte of data) {
    const factor = byte ^ rest[0]!;
    rest.copyWithin(0, 1);
    rest[length - 1] = 0;
    for (let index = 0; index < length; index += 1) rest[index] = rest[index]! ^ times(divisor[index]!, factor);
  }
  return rest;
}

const roomOf = ({ fixed }: Grid): number => Math.floor(fixed.filter((one) => one === 0).length / 8);

/** Mode, length, text, and what fills the rest. */
function dataOf(text: Uint8Array, version: number, length: number): Uint8Array {
  const lengthBits = version < 10 ? 8 : 16;
  const bits: number[] = [];
  const push = (value: number, count: number) => {
    for (let bit = count - 1; bit >= 0; bit -= 1) bits.push((value >> bit) & 1);
  };
  push(0b0100, 4);
  push(text.length, lengthBits);
  for (const byte of text) push(byte, 8);
  push(0, Math.min(4, length * 8 - bits.length));
  while (bits.length % 8 > 0) bits.push(0);
  const data = new Uint8Array(length);
  for (let index = 0; index < bits.length; index += 1)
    data[index >> 3] = data[index >> 3]! | (bits[index]! << (7 - (index & 7)));
  for (let index = bits.length / 8, pad = 0xec; index < length; index += 1, pad ^= 0xec ^ 0x11) data[index] = pad;
  return data;
}

/** The blocks, byte by byte in turn: first their data, then their error correction. */
function interleaved(data: Uint8Array, extra: number, blocks: number): number[] {
  const short = Math.floor(data.length / blocks);
  const shortBlocks = blocks - (data.length % blocks);
  const parts: Uint8Array[] = [];
  for (let index = 0, from = 0; index < blocks; index += 1) {
    const to = from + short + (index < shortBlocks ? 0 : 1);
    parts.push(data.subarray(from, to));
    from = to;
  }
  const ends = parts.map((part) => correction(part, extra));
  const turns = (list: Uint8Array[], longest: number) =>
    Array.from({ length: longest }, (_, index) =>
      list.flatMap((one) => (index < one.length ? [one[index]!] : [])),
    ).flat();
  return [...turns(parts, short + 1), ...turns(ends, extra)];
}

/** In columns of two, from the right, up and down in turn. */
function fill(grid: Grid, bytes: number[]): void {
  const { size, dark, fixed } = grid;
  let index = 0;
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step += 1)
      for (const x of [right, right - 1]) {
        const up = ((right + 1) & 2) === 0;
        const y = up ? size - 1 - step : step;
        if (fixed[y * size + x] === 1) continue;
        const bit = index < bytes.length * 8 ? (bytes[index >> 3]! >> (7 - (index & 7))) & 1 : 0;
        dark[y * size + x] = bit ^ ((x + y) % 2 === 0 ? 1 : 0);
        index += 1;
      }
  }
}

/** Rows of dark and light modules, without the light frame around; null: the text is too long. */
export function qrCode(text: string): boolean[][] | null {
  const bytes = new TextEncoder().encode(text);
  for (const [index, [extra, blocks]] of BLOCKS.entries()) {
    const version = index + 1;
    const grid = frame(version);
    const length = roomOf(grid) - extra * blocks;
    if (bytes.length + (version < 10 ? 2 : 3) > length) continue;
    fill(grid, interleaved(dataOf(bytes, version, length), extra, blocks));
    return Array.from({ length: grid.size }, (_, y) =>
      Array.from({ length: grid.size }, (_, x) => grid.dark[y * grid.size + x] === 1),
    );
  }
  return null;
}
