import { Blocks, type Reading } from './blocks.ts';
import { decoded, tokensOf } from './markup.ts';

const RAW = new Set(['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'textarea', 'select']);
/** What stands around a page and is on every one of a site. */
const AROUND = new Set(['nav', 'footer', 'aside']);
const BREAKS = new Set(
  'address article blockquote body br dd div dl dt fieldset figcaption figure footer form header hr html li main nav ol p pre section ul aside'.split(
    ' ',
  ),
);

/** The blocks of a page: headings, paragraphs, lists and tables, without what stands around it. */
export function readHtml(html: string): Reading {
  const page = new Page();
  for (const token of tokensOf(html, RAW)) {
    if (token.kind === 'text') page.text(decoded(token.text));
    else if (token.kind === 'open') page.open(token.name);
    else page.close(token.name);
  }
  return page.done();
}

class Page {
  readonly #blocks = new Blocks();
  #said = '';
  #title = '';
  #inTitle = false;
  #heading = 0;
  #around = 0;
  #table: string[][] | undefined;
  #head = false;
  #cell: string | undefined;

  text(text: string): void {
    if (this.#inTitle) this.#title += text;
    else if (this.#around > 0) return;
    else if (this.#cell !== undefined) this.#cell += text;
    else this.#said += text.replaceAll(/\s+/g, ' ');
  }

  open(name: string): void {
    if (name === 'title') this.#inTitle = this.#title === '';
    if (AROUND.has(name)) this.#around += 1;
    if (name === 'table' && !this.#table) {
      this.#flush();
      this.#table = [];
      this.#head = false;
    }
    if (this.#table) return this.#openInTable(name, this.#table);
    if (/^h[1-6]$/.test(name)) {
      this.#flush();
      this.#heading = Number(name[1]);
    } else if (BREAKS.has(name)) {
      if (name === 'li' || name === 'br' || name === 'dd' || name === 'dt') this.#said += '\n';
      else this.#flush();
      if (name === 'li') this.#said += '- ';
    } else if (name === 'td') this.#said += ' ';
  }

  #openInTable(name: string, rows: string[][]): void {
    if (name === 'tr') {
      this.#endCell();
      rows.push([]);
    }
    if (name === 'td' || name === 'th') {
      this.#endCell();
      if (name === 'th' && rows.length <= 1) this.#head = true;
      this.#cell = '';
    }
    if (name === 'br' && this.#cell !== undefined) this.#cell += ' ';
  }

  close(name: string): void {
    if (name === 'title') this.#inTitle = false;
    if (AROUND.has(name)) this.#around = Math.max(0, this.#around - 1);
    if (this.#table && (name === 'td' || name === 'th' || name === 'tr')) this.#endCell();
    if (name === 'table') this.#endTable();
    else if (!this.#table && (/^h[1-6]$/.test(name) || (BREAKS.has(name) && name !== 'li'))) this.#flush();
  }

  #endCell(): void {
    if (this.#cell === undefined) return;
    if (this.#table?.length === 0) this.#table.push([]);
    this.#table?.at(-1)?.push(this.#cell.replaceAll(/\s+/g, ' ').trim());
    this.#cell = undefined;
  }

  #endTable(): void {
    this.#endCell();
    const rows = (this.#table ?? []).filter((row) => row.some((cell) => cell !== ''));
    this.#table = undefined;
    // One column is how pages were once laid out.
    if (rows.every((row) => row.length < 2)) for (const row of rows) this.#blocks.text(row.join(' '));
    else this.#blocks.add({ kind: 'table', rows, head: this.#head });
  }

  #flush(): void {
    if (this.#heading > 0) this.#blocks.heading(this.#heading, this.#said);
    else this.#blocks.text(this.#said);
    this.#said = '';
    this.#heading = 0;
  }

  done(): Reading {
    if (this.#table) this.#endTable();
    this.#flush();
    return this.#blocks.done(this.#title);
  }
}
