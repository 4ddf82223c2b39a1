/**
 * How many bits of many texts differ from a question's, 128 at a time: WebAssembly has one instruction that counts the ones
 * of 16 bytes, and JavaScript needs a dozen for each four. The program is short enough to be written down as it is.
 */

/** Places in its memory: the question, the numbers that it finds, the texts. */
const QUESTION = 0;
const FAR = 1024;
const TEXTS = 8192;
const PAGE = 65_536;
const PAGES = 4;
/** Numbers that there is room for. */
const MOST_FAR = (TEXTS - FAR) / 2;
const BLOCK = 16;

const I32 = 0x7f;
const V128 = 0x7b;
const VOID = 0x40;

/** A number as the format has it: seven bits a byte, the lowest first. Those here have no sign. */
function number(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest];
}
const sized = (bytes: readonly number[]): number[] => [...number(bytes.length), ...bytes];
const named = (name: string): number[] => sized([...Buffer.from(name)]);
const section = (id: number, bytes: readonly number[]): number[] => [id, ...sized(bytes)];

const get = (local: number): number[] => [0x20, local];
const set = (local: number): number[] => [0x21, local];
/** Constants have a sign: seven bits are not enough where the seventh is set. */
const constant = (value: number): number[] => {
  const bytes = number(value);
  const last = bytes.at(-1)!;
  return [0x41, ...(last & 0x40 ? [...bytes.slice(0, -1), last | 0x80, 0] : bytes)];
};
const ADD = 0x6a;
const LESS = 0x49;
const NOT_LESS = 0x4f;
const vector = (operation: number, ...more: number[]): number[] => [0xfd, operation, ...more];
const loadVector = vector(0x00, 4, 0);
const XOR = vector(0x51);
const COUNT_ONES = vector(0x62);
const ADD_BYTES = vector(0x6e);
/** Sixteen bytes become eight numbers, and these four: neighbours are added up. */
const PAIRS_OF_BYTES = vector(0x7d);
const PAIRS_OF_EIGHT = vector(0x7f);
const lane = (index: number): number[] => vector(0x1b, index);

/** Given: how many texts, and how many bytes each has. */
const [COUNT, BYTES, AT, TO, ASKED, ONES] = [0, 1, 2, 3, 4, 5];
const step = (local: number, by: number): number[] => [...get(local), ...constant(by), ADD, ...set(local)];

const BODY = [
  ...[constant(TEXTS), set(AT), constant(FAR), set(TO)].flat(),
  // `count` becomes where the numbers end.
  ...[get(COUNT), get(COUNT), [ADD], constant(FAR), [ADD], set(COUNT)].flat(),
  0x02,
  VOID,
  0x03,
  VOID,
  ...[get(TO), get(COUNT), [NOT_LESS, 0x0d, 1]].flat(),
  ...[vector(0x0c, ...Array.from({ length: BLOCK }, () => 0)), set(ONES), constant(QUESTION), set(ASKED)].flat(),
  // Ones of each byte, added up: a byte has room for 31 blocks, and there are four.
  0x03,
  VOID,
  ...[get(ONES), get(AT), loadVector, get(ASKED), loadVector, XOR, COUNT_ONES, ADD_BYTES, set(ONES)].flat(),
  ...[step(AT, BLOCK), step(ASKED, BLOCK), get(ASKED), get(BYTES), [LESS, 0x0d, 0, 0x0b]].flat(),
  ...[get(ONES), PAIRS_OF_BYTES, PAIRS_OF_EIGHT, set(ONES), get(TO)].flat(),
  ...[0, 1, 2, 3].flatMap((index) => [...get(ONES), ...lane(index), ...(index > 0 ? [ADD] : [])]),
  ...[[0x3b, 1, 0], step(TO, 2), [0x0c, 0, 0x0b, 0x0b, 0x0b]].flat(),
];

const HEAD = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const MODULE = Uint8Array.from([
  ...HEAD,
  ...section(1, [1, 0x60, 2, I32, I32, 0]),
  ...section(3, [1, 0]),
  ...section(5, [1, 0, PAGES]),
  ...section(7, [2, ...named('memory'), 2, 0, ...named('differing'), 0, 0]),
  ...section(10, [1, ...sized([2, 3, I32, 1, V128, ...BODY])]),
]);

interface Program {
  memory: { buffer: ArrayBuffer };
  differing: (count: number, bytes: number) => void;
}

/** What of it is used here; its types are a browser's. */
interface Compiler {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { exports: unknown };
}

let program: Program | undefined;
/** Made at the first question. */
function started(): Program {
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: Compiler }).WebAssembly;
  program ??= new Instance(new Module(MODULE)).exports as Program;
  return program;
}

/** In how many bits each text differs from the question. A text has as many bytes as the question, a multiple of 16. */
export function differences(signs: Uint8Array, question: Uint8Array, count: number, far: Uint16Array): void {
  const { memory, differing } = started();
  const bytes = question.length;
  const all = new Uint8Array(memory.buffer);
  all.set(question, QUESTION);
  const atOnce = Math.min(MOST_FAR, Math.floor((PAGES * PAGE - TEXTS) / bytes));
  for (let from = 0; from < count; from += atOnce) {
    const some = Math.min(atOnce, count - from);
    all.set(signs.subarray(from * bytes, (from + some) * bytes), TEXTS);
    differing(some, bytes);
    far.set(new Uint16Array(memory.buffer, FAR, some), from);
  }
}
