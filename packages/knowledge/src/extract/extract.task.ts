import { termsOf, type KnownWords } from '../words/terms.ts';
import { Unreadable, type DocumentKind } from './blocks.ts';
import { cut, MAX_PASSAGES, type Cut, type Passage } from './cut.ts';
import { readDocument } from './read.ts';

export interface Given {
  bytes: Uint8Array;
  name: string;
  mime?: string | undefined;
  cut?: Cut | undefined;
}

export interface Indexed extends Passage {
  /**
   * What stands in it, its headings included, a line each; how often, a character's code for each. A pair for each term would
   * be millions of a large document, and whoever gets them from a thread stands still for as long as they are many.
   */
  terms: string;
  counts: string;
  /** All of them together. */
  words: number;
}

export type Extracted =
  | { ok: true; kind: DocumentKind; title: string | undefined; notes: string[]; passages: Indexed[] }
  /** `slow`: it may be the machine's fault. */
  | { ok: false; error: string; slow?: true };

/** Read, cut and made ready for the index: all of a document that is computed. */
export function run({ bytes, name, mime, cut: how }: Given): Extracted {
  try {
    const { kind, reading } = readDocument(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), name, mime);
    const known: KnownWords = new Map();
    const { passages, more } = cut(reading.blocks, how);
    if (passages.length === 0) return { ok: false, error: 'There is no text in it.' };
    const notes = more
      ? [...reading.notes, `Only the first ${MAX_PASSAGES.toLocaleString('en')} passages were kept.`]
      : reading.notes;
    return {
      ok: true,
      kind,
      title: reading.title,
      notes,
      passages: passages.map((passage) => indexed(passage, name, known)),
    };
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false, error: error.message };
    throw error;
  }
}

/** Zero characters are no letters of PostgreSQL's. */
const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');

function indexed({ heading, place, text }: Passage, name: string, known: KnownWords): Indexed {
  const counts = new Map<string, number>();
  const terms = termsOf(`${name.replace(/\.[a-z0-9]{1,5}$/i, '')}\n${heading}\n${text}`, known);
  for (const term of terms) counts.set(term, Math.min(255, (counts.get(term) ?? 0) + 1));
  return {
    heading: storable(heading),
    place: storable(place),
    text: storable(text),
    terms: [...counts.keys()].join('\n'),
    counts: String.fromCharCode(...counts.values()),
    words: terms.length,
  };
}
