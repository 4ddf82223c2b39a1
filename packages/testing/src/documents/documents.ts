import { crc32, deflateRawSync, deflateSync } from 'node:zlib';

/** Real documents, made here: what office programs and printers write, as small as it can be. */

/** A zip of these files. `raw`: bytes that are packed already, with the size that they claim. */
export function zip(files: Readonly<Record<string, string | Buffer>>): Buffer {
  const parts: Buffer[] = [];
  const heads: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content as string);
    const packed = deflateRawSync(bytes);
    const about = Buffer.alloc(26);
    about.writeUInt16LE(20, 0);
    about.writeUInt16LE(8, 4);
    about.writeUInt32LE(crc32(bytes), 10);
    about.writeUInt32LE(packed.length, 14);
    about.writeUInt32LE(bytes.length, 18);
    about.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('504b0304', 'hex'), about, Buffer.from(name), packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(at, 10);
    heads.push(Buffer.concat([Buffer.from('504b01021400', 'hex'), about, place, Buffer.from(name)]));
    parts.push(local);
    at += local.length;
  }
  const list = Buffer.concat(heads);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(heads.length, 8);
  end.writeUInt16LE(heads.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, list, end]);
}

const paragraph = (text: string, style?: string): string =>
  `<w:p>${style === undefined ? '' : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;

export const docx = (...paragraphs: (string | [text: string, style: string] | string[][])[]): Buffer =>
  zip({
    '[Content_Types].xml': '<Types/>',
    'word/document.xml': `<?xml version="1.0"?><w:document xmlns:w="x"><w:body>${paragraphs
      .map((one) =>
        typeof one === 'string'
          ? paragraph(one)
          : Array.isArray(one[0])
            ? tableOf(one as string[][])
            : paragraph(one[0], one[1] as string),
      )
      .join('')}</w:body></w:document>`,
  });

const tableOf = (rows: string[][]): string =>
  `<w:tbl>${rows.map((row) => `<w:tr>${row.map((cell) => `<w:tc>${paragraph(cell)}</w:tc>`).join('')}</w:tr>`).join('')}</w:tbl>`;

const letter = (column: number): string => String.fromCharCode(65 + column);

/** Texts are shared, numbers stand as they are; `days` are columns whose numbers are days. */
export function xlsx(sheets: Readonly<Record<string, (string | number)[][]>>, days: readonly number[] = []): Buffer {
  const shared: string[] = [];
  const cell = (value: string | number, row: number, column: number): string => {
    const place = `r="${letter(column)}${row + 1}"`;
    if (typeof value === 'string') return `<c ${place} t="s"><v>${shared.push(value) - 1}</v></c>`;
    return `<c ${place}${days.includes(column) ? ' s="1"' : ''}><v>${value}</v></c>`;
  };
  const sheet = (rows: (string | number)[][]): string =>
    `<worksheet><sheetData>${rows.map((row, n) => `<row r="${n + 1}">${row.map((value, column) => cell(value, n, column)).join('')}</row>`).join('')}</sheetData></worksheet>`;
  const names = Object.keys(sheets);
  const parts = Object.values(sheets).map((rows, n) => [`xl/worksheets/sheet${n + 1}.xml`, sheet(rows)] as const);
  return zip({
    'xl/workbook.xml': `<workbook><sheets>${names.map((name, n) => `<sheet name="${name}" sheetId="${n + 1}" r:id="rId${n + 1}"/>`).join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships>${names.map((_, n) => `<Relationship Id="rId${n + 1}" Target="worksheets/sheet${n + 1}.xml"/>`).join('')}</Relationships>`,
    'xl/styles.xml': '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
    ...Object.fromEntries(parts),
    'xl/sharedStrings.xml': `<sst>${shared.map((text) => `<si><t>${text}</t></si>`).join('')}</sst>`,
  });
}

type Slide = [title: string, ...lines: string[]];

const slideOf = ([title, ...lines]: Slide): string =>
  `<p:sld><p:sp><p:nvPr><p:ph type="title"/></p:nvPr><p:txBody><a:p><a:r><a:t>${title}</a:t></a:r></a:p></p:txBody></p:sp><p:sp><p:txBody>${lines.map((line) => `<a:p><a:r><a:t>${line}</a:t></a:r></a:p>`).join('')}</p:txBody></p:sp></p:sld>`;

/** `order`: numbers of the slides as they are shown, from 1; who moves one leaves its file where it was. */
export const presentation = (slides: readonly Slide[], order: readonly number[]): Buffer =>
  zip({
    'ppt/presentation.xml': `<p:presentation><p:sldIdLst>${order.map((n) => `<p:sldId id="${255 + n}" r:id="rId${n}"/>`).join('')}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': `<Relationships>${slides.map((_, n) => `<Relationship Id="rId${n + 1}" Target="slides/slide${n + 1}.xml"/>`).join('')}</Relationships>`,
    ...Object.fromEntries(slides.map((one, n) => [`ppt/slides/slide${n + 1}.xml`, slideOf(one)])),
  });

export const pptx = (...slides: Slide[]): Buffer =>
  presentation(
    slides,
    slides.map((_, n) => n + 1),
  );

/** A page for each text, packed as printers do; lines by `\n`. */
export function pdf(pages: readonly string[], trailer = ''): Buffer {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${pages.map((_, n) => `${n * 2 + 4} 0 R`).join(' ')}] /Count ${pages.length} /Resources << /Font << /F1 3 0 R >> >> >>`,
    `<< /Type /Font /Subtype /Type1 /FirstChar 0 /Widths [${'500 '.repeat(256)}] >>`,
  ];
  for (const page of pages) {
    const lines = page.split('\n').map((line) => `(${line.replaceAll(/[()\\]/g, String.raw`\$&`)}) Tj 0 -12 Td`);
    const packed = deflateSync(Buffer.from(`BT /F1 10 Tf 20 700 Td ${lines.join(' ')} ET`, 'latin1'));
    objects.push(`<< /Type /Page /Parent 2 0 R /Contents ${objects.length + 2} 0 R >>`);
    objects.push(
      `<< /Length ${packed.length} /Filter /FlateDecode >>\nstream\n${packed.toString('latin1')}\nendstream`,
    );
  }
  const body = objects.map((one, n) => `${n + 1} 0 obj\n${one}\nendobj`).join('\n');
  return Buffer.from(`%PDF-1.7\n${body}\ntrailer << /Root 1 0 R ${trailer} >>`, 'latin1');
}
