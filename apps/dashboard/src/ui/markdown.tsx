import { useMemo } from 'react';
import { scanMarkdown, type MarkdownBlock as Block, type MarkdownSpan as Span } from '@troupe/domain';

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
      return (
        <pre
          tabIndex={0}
          className="overflow-x-auto rounded-lg border border-line bg-surface px-3 py-2 font-mono text-[0.85rem] leading-relaxed"
        >
          {block.text}
        </pre>
      );
    case 'list':
      return <ListView block={block} />;
    case 'table':
      return <TableView block={block} />;
  }
}

function ListView({ block: { ordered, items } }: { block: Extract<Block, { kind: 'list' }> }) {
  const children = items.map((spans, index) => (
    <li key={index} className="whitespace-pre-wrap">
      <Spans spans={spans} />
    </li>
  ));
  return ordered ? (
    <ol className="list-decimal space-y-1 pl-5">{children}</ol>
  ) : (
    <ul className="list-disc space-y-1 pl-5">{children}</ul>
  );
}

function TableView({ block: { head, rows } }: { block: Extract<Block, { kind: 'table' }> }) {
  return (
    <div className="overflow-x-auto" tabIndex={0}>
      <table className="text-left text-[0.92rem]">
        <thead>
          <tr>
            {head.map((spans, index) => (
              <th key={index} className="border-b border-line-strong/60 py-1 pr-5 font-semibold">
                <Spans spans={spans} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((spans, index) => (
                <td key={index} className="border-b border-line py-1 pr-5 align-top">
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
