import { AppError } from '../errors.ts';

/** Forms with files, as browsers and clients of others' protocols send them (RFC 7578). */

export interface FormFile {
  /** The last part of its path: where it lay is nobody's business. */
  name: string;
  type: string;
  /** A part of the request's own bytes. */
  bytes: Buffer;
}

export interface Form {
  fields: ReadonlyMap<string, string>;
  files: ReadonlyMap<string, FormFile>;
  /** All of them in their order, of which several may have one name; `path` is what the sender called it. */
  every: readonly (FormFile & { field: string; path: string })[];
}

const MOST_PARTS = 20;
const MOST_HEAD = 8192;
const MOST_FIELD = 65_536;
const MOST_NAME = 255;
const BOUNDARY = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"\r\n]{1,70})"|([^\s;",]{1,70}))\s*(?:;|$)/i;
const HEAD_END = Buffer.from('\r\n\r\n');

const broken = () => new AppError(400, 'The form is not valid');

/** What a browser writes in place of characters that would end the name. */
const MARKS: Readonly<Record<string, string>> = { '%22': '"', '%0D': '\r', '%0A': '\n' };
const plain = (text: string): string => text.replaceAll(/%(?:22|0D|0A)/g, (mark) => MARKS[mark]!);

function pathOf(given: string): string {
  // oxlint-disable-next-line no-control-regex -- a name is one line
  return plain(given).replaceAll(/[\u0000-\u001f\u007f]/g, '');
}

function fileName(given: string): string {
  const name = pathOf(given);
  return (name.split(/[\\/]/).at(-1) || 'file').slice(0, MOST_NAME).toWellFormed();
}

function headOf(text: string) {
  const header = (name: string): string =>
    text
      .split('\r\n')
      .find((line) => line.toLowerCase().startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim() ?? '';
  const about = header('content-disposition');
  const [, name] = /;\s*name="([^"]*)"/i.exec(about) ?? [];
  const [, file] = /;\s*filename="([^"]*)"/i.exec(about) ?? [];
  return { name: name === undefined ? undefined : plain(name), file, type: header('content-type') };
}

/** Reads once from the beginning to the end, however it is put together. */
export function readForm(contentType: unknown, bytes: Buffer, most = MOST_PARTS): Form {
  const [, quoted, bare] = BOUNDARY.exec(typeof contentType === 'string' ? contentType : '') ?? [];
  const mark = `--${quoted ?? bare ?? ''}`;
  const between = Buffer.from(`\r\n${mark}`);
  const fields = new Map<string, string>();
  const files = new Map<string, FormFile>();
  const every: Form['every'][number][] = [];
  if (mark === '--' || bytes.toString('latin1', 0, mark.length) !== mark) throw broken();
  let at = mark.length;
  for (let part = 0; bytes.toString('latin1', at, at + 2) !== '--'; part += 1) {
    if (part === most) throw new AppError(400, `A form may have ${most} parts`);
    const headEnd = bytes.subarray(at, at + MOST_HEAD).indexOf(HEAD_END);
    if (headEnd < 0 || bytes.toString('latin1', at, at + 2) !== '\r\n') throw broken();
    const { name, file, type } = headOf(bytes.toString('utf8', at + 2, at + headEnd));
    const begin = at + headEnd + HEAD_END.length;
    // From the end of the head on: a part without anything in it ends with the line that the head ends with.
    const end = bytes.indexOf(between, begin - 2);
    if (end < 0 || name === undefined) throw broken();
    const content = bytes.subarray(begin, Math.max(begin, end));
    if (file !== undefined) {
      const found = { name: fileName(file), type, bytes: content };
      files.set(name, found);
      every.push({ ...found, field: name, path: pathOf(file) });
    } else if (content.length > MOST_FIELD) throw new AppError(400, `A field of a form may have ${MOST_FIELD} bytes`);
    else fields.set(name, content.toString('utf8'));
    at = end + between.length;
  }
  return { fields, files, every };
}
