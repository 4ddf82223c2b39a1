import { useMemo } from 'react';
import { scanMarkdown } from '@troupe/domain';
import type { MarkdownBlock as Block, MarkdownList as List, MarkdownSpan as Span } from '@troupe/domain';
import { markdown as texts } from '../texts/common.ts';
import { colourCode } from './code-colours.ts';
import type { CodePart } from './code-colours.ts';
import { CopyButton } from './code.tsx';
import { cx } from './cx.ts';

/** What models write: paragraphs, lists, tables, code, emphasis and links. Made into elements, never into HTML text. */
export function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => scanMarkdown(text), [text]);
  return (
    <div className="markdown flex min-w-0 flex-col gap-2.5">
      {blocks.map((block, index) => (
        <div key={index}>
          <BlockView block={block} />
        </div>
      ))}
    </div>
  );
}

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case 'heading':
      return (
        <p className="font-semibold">
          <Spans spans={block.spans} />
        </p>
      );
    case 'paragraph':
      return (
        <p className="whitespace-pre-wrap">
          <Spans spans={block.spans} />
        </p>
      );
    case 'quote':
      return (
        <blockquote className="border-l-3 border-line-strong/60 pl-3 whitespace-pre-wrap text-ink-soft">
          <Spans spans={block.spans} />
        </blockquote>
      );
    case 'plain':
      return <p className="break-words whitespace-pre-wrap">{block.text}</p>;
    case 'code':
      return <CodeView block={block} />;
    case 'list':
      return <ListView block={block} />;
    case 'table':
      return <TableView block={block} />;
  }
}

const COLOURS: Record<CodePart['kind'], string> = {
  plain: '',
  comment: 'text-ink-faint italic',
  text: 'text-ok',
  number: 'text-spot',
  word: 'text-info',
};

function CodeView({ block: { text, language } }: { block: Extract<Block, { kind: 'code' }> }) {
  const parts = useMemo(() => colourCode(text, language), [text, language]);
  return (
    <figure className="min-w-0 overflow-hidden rounded-lg border border-line bg-surface" dir="ltr">
      <figcaption className="flex items-center justify-between gap-2 border-b border-line py-1 pr-1 pl-3 text-[0.8rem] text-ink-faint">
        <span className="truncate">{language || texts.code}</span>
        <CopyButton text={text} />
      </figcaption>
      <pre tabIndex={0} className="overflow-x-auto px-3 py-2 font-mono text-[0.85rem] leading-relaxed">
        {parts.map((part, index) =>
          part.kind === 'plain' ? (
            part.text
          ) : (
            <span key={index} className={COLOURS[part.kind]}>
              {part.text}
            </span>
          ),
        )}
      </pre>
    </figure>
  );
}

function ListView({ block: { ordered, start, items } }: { block: List }) {
  const children = items.map((item, index) => (
    <li key={index} className={cx('whitespace-pre-wrap', item.checked !== undefined && 'list-none -ml-5')}>
      {item.checked !== undefined && (
        <input
          type="checkbox"
          checked={item.checked}
          readOnly
          disabled
          aria-label={item.checked ? texts.taskDone : texts.taskOpen}
          className="mr-2 align-middle accent-accent"
        />
      )}
      <Spans spans={item.spans} />
      {item.lists.map((list, place) => (
        <div key={place} className="mt-1">
          <ListView block={list} />
        </div>
      ))}
    </li>
  ));
  return ordered ? (
    <ol start={start} className="list-decimal space-y-1 pl-5">
      {children}
    </ol>
  ) : (
    <ul className="list-disc space-y-1 pl-5">{children}</ul>
  );
}

function TableView({ block: { head, rows, align } }: { block: Extract<Block, { kind: 'table' }> }) {
  return (
    <div className="overflow-x-auto" tabIndex={0}>
      <table className="text-left text-[0.92rem]">
        <thead>
          <tr>
            {head.map((spans, index) => (
              <th
                key={index}
                style={{ textAlign: align[index] }}
                className="border-b border-line-strong/60 py-1 pr-5 font-semibold"
              >
                <Spans spans={spans} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((spans, index) => (
                <td
                  key={index}
                  style={{ textAlign: align[index] }}
                  className="border-b border-line py-1 pr-5 align-top"
                >
                  <Spans spans={spans} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const Spans = ({ spans }: { spans: Span[] }) => spans.map((span, index) => <SpanView key={index} span={span} />);

function SpanView({ span }: { span: Span }) {
  switch (span.kind) {
    case 'text':
      return span.text;
    case 'code':
      return <code className="rounded bg-ink/8 px-1 py-0.5 font-mono text-[0.88em]">{span.text}</code>;
    case 'strong':
      return <strong>{span.text}</strong>;
    case 'del':
      return <del>{span.text}</del>;
    case 'em':
      return <em>{span.text}</em>;
    case 'link':
      return (
        <a href={span.target} target="_blank" rel="noopener noreferrer" className="link break-all">
          {span.text}
        </a>
      );
  }
}
