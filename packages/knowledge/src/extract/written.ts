import { tableLine, type Block } from './blocks.ts';

/** A document as one text, in the letters of Markdown; about `most` characters, whatever it holds. */
export function written(blocks: readonly Block[], most: number): { text: string; more: boolean } {
  const parts: string[] = [];
  let room = most;
  for (const block of blocks)
    for (const part of partsOf(block)) {
      if (room < 0) return { text: parts.join('').trim(), more: true };
      parts.push(part);
      room -= part.length;
    }
  return { text: parts.join('').trim(), more: false };
}

function* partsOf(block: Block): Generator<string> {
  if (block.kind === 'place') yield `\n[${block.place}]\n\n`;
  else if (block.kind === 'heading') yield `${'#'.repeat(block.level)} ${block.text}\n\n`;
  else if (block.kind === 'text') yield `${block.text}\n\n`;
  else {
    // Row by row: a sheet may have as many as it likes.
    for (const row of block.rows) yield `${tableLine(row)}\n`;
    yield '\n';
  }
}
