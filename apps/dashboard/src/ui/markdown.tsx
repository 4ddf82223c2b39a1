import type { ReactNode } from 'react';

/** What models write: paragraphs, lists, tables, code, emphasis and links. Made into elements, never into HTML text. */
export function Markdown({ text }: { text: string }) {
  return <div className="markdown flex min-w-0 flex-col gap-2.5">{blocks(text.replaceAll('\r\n', '\n'))}</div>;
}

const FENCE = /^\s*```/;
const HEADING = /^(#{1,4})\s+(.*)$/;
const BULLET = /^\s*[-*•]\s+(.*)$/;
const NUMBER = /^\s*\d{1,3}[.)]\s+(.*)$/;
const ROW = /^\s*\|(.+)\|\s*$/;
const RULE = /^\s*\|?[\s:|-]*-{3,}[\s:|-]*\|?\s*$/;
const QUOTE = /^\s*>\s?(.*)$/;

type Taken = [node: ReactNode, next: number];

function blocks(text: string): ReactNode[] {
  const lines = text.split('\n');
  const found: ReactNode[] = [];
  let at = 0;
  while (at < lines.length) {
    if (!lines[at]!.trim()) {
      at += 1;
      continue;
    }
    const [node, next] = block(lines, at);
    found.push(<div key={at}>{node}</div>);
    at = next;
  }
  return found;
}

function block(lines: string[], at: number): Taken {
  const line = lines[at]!;
  if (FENCE.test(line)) return fence(lines, at);
  const heading = HEADING.exec(line);
  if (heading) return [<p className="font-semibold">{inline(heading[2]!)}</p>, at + 1];
  if (ROW.test(line) && RULE.test(lines[at + 1] ?? '')) return table(lines, at);
  if (BULLET.test(line)) return list(lines, at, BULLET, false);
  if (NUMBER.test(line)) return list(lines, at, NUMBER, true);
  if (QUOTE.test(line)) return quote(lines, at);
  let next = at + 1;
  while (next < lines.length && lines[next]!.trim() && !starts(lines[next]!)) next += 1;
  return [<p className="whitespace-pre-wrap">{inline(lines.slice(at, next).join('\n'))}</p>, next];
}

const starts = (line: string) => [FENCE, HEADING, BULLET, NUMBER, ROW, QUOTE].some((form) => form.test(line));

function fence(lines: string[], at: number): Taken {
  let end = at + 1;
  while (end < lines.length && !FENCE.test(lines[end]!)) end += 1;
  const code = lines.slice(at + 1, end).join('\n');
  return [
    <pre
      tabIndex={0}
      className="overflow-x-auto rounded-lg border border-line bg-surface px-3 py-2 font-mono text-[0.85rem] leading-relaxed"
    >
      {code}
    </pre>,
    end + 1,
  ];
}

function list(lines: string[], at: number, form: RegExp, ordered: boolean): Taken {
  const items: string[] = [];
  let next = at;
  for (; next < lines.length; next += 1) {
    const item = form.exec(lines[next]!);
    if (item) items.push(item[1]!);
    // A line that is set in belongs to the item above.
    else if (/^\s{2,}\S/.test(lines[next]!) && items.length > 0) items.push(`${items.pop()}\n${lines[next]!.trim()}`);
    else break;
  }
  const children = items.map((item, index) => (
    <li key={index} className="whitespace-pre-wrap">
      {inline(item)}
    </li>
  ));
  return [
    ordered ? (
      <ol className="list-decimal space-y-1 pl-5">{children}</ol>
    ) : (
      <ul className="list-disc space-y-1 pl-5">{children}</ul>
    ),
    next,
  ];
}

const cells = (line: string) => (ROW.exec(line)?.[1] ?? '').split('|').map((cell) => cell.trim());

function table(lines: string[], at: number): Taken {
  let next = at + 2;
  while (next < lines.length && ROW.test(lines[next]!)) next += 1;
  return [
    <div className="overflow-x-auto" tabIndex={0}>
      <table className="text-left text-[0.92rem]">
        <thead>
          <tr>
            {cells(lines[at]!).map((cell, index) => (
              <th key={index} className="border-b border-line-strong/60 py-1 pr-5 font-semibold">
                {inline(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.slice(at + 2, next).map((line, row) => (
            <tr key={row}>
              {cells(line).map((cell, index) => (
                <td key={index} className="border-b border-line py-1 pr-5 align-top">
                  {inline(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>,
    next,
  ];
}

function quote(lines: string[], at: number): Taken {
  let next = at;
  const kept: string[] = [];
  for (; next < lines.length; next += 1) {
    const line = QUOTE.exec(lines[next]!);
    if (!line) break;
    kept.push(line[1]!);
  }
  return [
    <blockquote className="border-l-3 border-line-strong/60 pl-3 whitespace-pre-wrap text-ink-soft">
      {inline(kept.join('\n'))}
    </blockquote>,
    next,
  ];
}

const INLINE =
  /`([^`\n]+)`|\*\*([^*\n]+)\*\*|__([^_\n]+)__|\*([^*\s][^*\n]*)\*|\[([^\]\n]+)\]\((https?:\/\/[^)\s]+)\)|(https?:\/\/[^\s<>()]+[^\s<>().,;:!?])/g;

function inline(text: string): ReactNode[] {
  const found: ReactNode[] = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > from) found.push(text.slice(from, match.index));
    found.push(emphasis(match));
    from = match.index + match[0].length;
  }
  found.push(text.slice(from));
  return found;
}

function emphasis(match: RegExpExecArray): ReactNode {
  const [, code, bold, bolder, italic, label, target, bare] = match;
  const key = match.index;
  if (code) {
    return (
      <code key={key} className="rounded bg-ink/8 px-1 py-0.5 font-mono text-[0.88em]">
        {code}
      </code>
    );
  }
  if (bold ?? bolder) return <strong key={key}>{bold ?? bolder}</strong>;
  if (italic) return <em key={key}>{italic}</em>;
  return (
    <a key={key} href={target ?? bare} target="_blank" rel="noopener noreferrer" className="link break-all">
      {label ?? bare}
    </a>
  );
}
