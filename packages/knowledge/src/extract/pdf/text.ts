import { readFont, type Font } from './fonts.ts';
import {
  isDict,
  nameOf,
  readObjects,
  Reader,
  Word,
  type Dict,
  type Inflate,
  type Objects,
  type Value,
} from './objects.ts';

/** The words of a PDF, page by page, as far as the file says what its letters mean. */

export interface PdfPages {
  pages: string[];
  /** There is more than was read. */
  more: boolean;
  locked: boolean;
}

const MAX_PAGES = 1000;
const MAX_FORMS = 6;
/** Of a page's own instructions. */
const MAX_STEPS = 2_000_000;
/** Letters of a page. */
const MAX_PAGE = 4_000_000;

export function pdfPages(file: Buffer, inflate: Inflate, most: number): PdfPages {
  const objects = readObjects(file, inflate);
  const found = pagesOf(objects);
  if (objects.isLocked) return { pages: [], more: false, locked: true };
  const fonts = new Map<Dict, Font>();
  const pages: string[] = [];
  let length = 0;
  for (const page of found.slice(0, MAX_PAGES)) {
    if (length > most) break;
    const words = tidy(pageText(objects, page, fonts));
    pages.push(words);
    length += words.length;
  }
  return { pages, more: pages.length < found.length, locked: false };
}

const tidy = (text: string): string =>
  text
    // Who looks for "office" writes letters, and finds none of those that a font draws as one.
    .replaceAll(/[\uFB00-\uFB06]/g, (drawn) => drawn.normalize('NFKC'))
    // A hyphen that is there because a line ended.
    .replaceAll(/ ?\u2010\n(?=\p{Ll})/gu, '')
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();

function pagesOf(objects: Objects): Dict[] {
  const all = objects.all();
  const catalogue = all.findLast((one) => nameOf(objects.get(one.get('Type'))) === 'Catalog');
  const seen = new Set<Dict>();
  const found: Dict[] = [];
  const waiting: Value[] = catalogue ? [catalogue.get('Pages') ?? null] : [];
  for (let next = waiting.shift(); next !== undefined && found.length <= MAX_PAGES; next = waiting.shift()) {
    const node = objects.dict(next);
    if (seen.has(node)) continue;
    seen.add(node);
    const kids = objects.get(node.get('Kids'));
    if (Array.isArray(kids)) waiting.unshift(...kids);
    else if (node.size > 0) found.push(node);
  }
  if (found.length > 0) return found;
  return all.filter((one) => nameOf(objects.get(one.get('Type'))) === 'Page').slice(0, MAX_PAGES + 1);
}

/** Resources may stand further up. */
function resourcesOf(objects: Objects, page: Dict): Dict {
  let node = page;
  for (let hops = 0; hops < 32; hops += 1) {
    const found = objects.get(node.get('Resources'));
    if (isDict(found)) return found;
    const parent = objects.get(node.get('Parent'));
    if (!isDict(parent)) break;
    node = parent;
  }
  return new Map();
}

function pageText(objects: Objects, page: Dict, fonts: Map<Dict, Font>): string {
  const contents = page.get('Contents');
  const streams = Array.isArray(objects.get(contents)) ? (objects.get(contents) as Value[]) : [contents ?? null];
  const code = streams.map((one) => objects.stream(one)).join('\n');
  const said: string[] = [];
  speak({ objects, fonts, said, steps: MAX_STEPS, room: MAX_PAGE }, code, resourcesOf(objects, page), 0);
  return said.join('');
}

interface Speaking {
  objects: Objects;
  fonts: Map<Dict, Font>;
  said: string[];
  steps: number;
  room: number;
}

/** A gap that is as wide as a space, and a step that is another line, in sizes of the font. */
const GAP = 0.15;
const LINE = 0.3;
/** Less than any two lines are apart. */
const RAISED = 0.7;

/** Where the words stand: letters that follow one another are a word, however they are put there. */
function createPen(on: Speaking) {
  const { said } = on;
  let [x, y, end, size] = [0, 0, 0, 1];
  let font: Font | undefined;
  return {
    use(next: Font, points: number): void {
      font = next;
      size = Math.abs(points) || 1;
    },
    show(bytes: string): void {
      const { text = '', width = 0 } = font?.(bytes) ?? {};
      said.push(text);
      on.room -= text.length;
      end += (width / 1000) * size;
    },
    /** In thousandths, to the left. */
    kern(by: number): void {
      if (-by / 1000 > GAP) said.push(' ');
      end -= (by / 1000) * size;
    },
    moveTo(nextX: number, nextY: number): void {
      const step = Math.abs(nextY - y);
      // Small letters above or below the others go on where those ended.
      const isRaised = step < RAISED * size && Math.abs(nextX - end) <= GAP * size;
      if (step > LINE * size && !isRaised) said.push('\n');
      else if (nextX - end > GAP * size || nextX < x) said.push(' ');
      [x, y, end] = [nextX, nextY, nextX];
    },
    moveBy(dx: number, dy: number): void {
      this.moveTo(x + dx, y + dy);
    },
  };
}

function speak(on: Speaking, code: string, resources: Dict, depth: number): void {
  const { objects, said } = on;
  const known = objects.dict(resources.get('Font'));
  const reader = new Reader(code);
  const pen = createPen(on);
  let stack: Value[] = [];
  const show = (value: Value | undefined): void => {
    if (typeof value === 'string') pen.show(value);
    if (typeof value === 'number') pen.kern(value);
    if (Array.isArray(value)) value.forEach(show);
  };
  const at = (back: number): number => (typeof stack.at(-back) === 'number' ? (stack.at(-back) as number) : 0);
  const onNewLine = (): void => {
    said.push('\n');
    show(stack.at(-1));
  };
  const steps: Record<string, () => void> = {
    Tf: () => pen.use(fontOf(on, known.get(nameOf(stack.at(-2)))), at(1)),
    Tj: () => show(stack.at(-1)),
    TJ: () => show(stack.at(-1)),
    "'": onNewLine,
    '"': onNewLine,
    Td: () => pen.moveBy(at(2), at(1)),
    TD: () => pen.moveBy(at(2), at(1)),
    'T*': () => said.push('\n'),
    Tm: () => pen.moveTo(at(2) / (at(6) || 1), at(1) / (at(3) || 1)),
    Do: () => {
      const form = objects.dict(resources.get('XObject')).get(nameOf(stack.at(-1)));
      const about = objects.dict(form);
      if (depth >= MAX_FORMS || nameOf(objects.get(about.get('Subtype'))) !== 'Form') return;
      const own = objects.get(about.get('Resources'));
      speak(on, objects.stream(form), isDict(own) ? own : resources, depth + 1);
    },
    BI: () => {
      // A picture among the words: bytes that are no words.
      const end = code.slice(reader.at).search(/\sEI\s/);
      reader.at = end < 0 ? code.length : reader.at + end + 4;
    },
  };
  for (let value = reader.next(); value !== undefined && on.steps > 0 && on.room > 0; value = reader.next()) {
    on.steps -= 1;
    if (value instanceof Word) {
      if (Object.hasOwn(steps, value.text)) steps[value.text]?.();
      stack = [];
    } else if (stack.length < 100) stack.push(value);
  }
}

function fontOf({ objects, fonts }: Speaking, value: Value | undefined): Font {
  const about = objects.dict(value);
  const font = fonts.get(about) ?? readFont(objects, about);
  fonts.set(about, font);
  return font;
}
