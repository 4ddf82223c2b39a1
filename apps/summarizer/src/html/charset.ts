/** How many bytes are looked at for a declaration: what the HTML standard asks for. */
export const SNIFF_BYTES = 1024;

/**
 * The encoding of a page: a byte order mark, else the Content-Type header, else what the page says of itself, else UTF-8
 * unless the beginning is none.
 */
export function detectCharset(contentType: string, head: Uint8Array): string {
  return (
    fromMark(head) ??
    known(/;\s*charset\s*=\s*["']?\s*([^\s;"']+)/i.exec(contentType)?.[1]) ??
    fromPage(head) ??
    (isUtf8(head) ? 'utf-8' : 'windows-1252')
  );
}

function fromMark([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return undefined;
}

function fromPage(head: Uint8Array): string | undefined {
  const text = Buffer.from(head.subarray(0, SNIFF_BYTES))
    .toString('latin1')
    .replace(/<!--.*?-->/gs, '');
  const said =
    /^\s*<\?xml[^>]{0,200}encoding\s*=\s*["']([^"']+)/i.exec(text) ??
    /<meta[^>]{0,900}charset\s*=\s*["']?\s*([^\s;"'/>]+)/i.exec(text);
  const charset = known(said?.[1]);
  // What could be read as single bytes is not UTF-16, whatever it says.
  return charset?.startsWith('utf-16') ? 'utf-8' : charset;
}

/** The name that TextDecoder has for a label; undefined when it knows none. */
function known(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

function isUtf8(head: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}
