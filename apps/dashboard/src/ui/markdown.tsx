import { useMemo } from 'react';
import { csvOf, scanMarkdown, spanWords } from '@troupe/domain';
import type {
  MarkdownBlock as Block,
  MarkdownList as List,
  MarkdownSpan as Span,
  MarkdownTable as Table,
} from '@troupe/domain';
import { markdown as texts } from '../texts/common.ts';
import { colourCode } from './code-colours.ts';
import type { CodePart } from './code-colours.ts';
import { CopyButton } from './code.tsx';
import { cx } from './cx.ts';
import { Picture, SaveText, TextFilesContext, TextLink } from './markdown-files.tsx';
import type { TextFiles } from './markdown-files.tsx';

/**
 * What models write: paragraphs, lists, tables, code, emphasis, links and pictures. Made into elements, never into HTML
 * text. `files`: the workspace that it speaks of.
 */
export function Markdown({ text, files }: { text: string; files?: TextFiles | undefined }) {
  const blocks = useMemo(() => scanMarkdown(text), [text]);
  return (
    <TextFilesContext value={files}>
      <div className="markdown flex min-w-0 flex-col gap-2.5">
        <Blocks blocks={blocks} />
      </div>
    </TextFilesContext>
  );
}

const Blocks = ({ blocks }: { blocks: Block[] }) =>
  blocks.map((block, index) => (
    <div key={index}>
      <BlockView block={block} />
    </div>
  ));

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
        <blockquote className="flex min-w-0 flex-col gap-2 border-s-3 border-line-strong/60 ps-3 text-ink-soft">
          <Blocks blocks={block.blocks} />
        </blockquote>
      );
    case 'rule':
      return <hr className="my-1 border-line-strong/60" />;
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
        <span className="min-w-0 flex-1 truncate">{language || texts.code}</span>
        <SaveText text={text} language={language} />
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
      {item.blocks.length > 0 && (
        <div className="mt-1 flex min-w-0 flex-col gap-2 whitespace-normal">
          <Blocks blocks={item.blocks} />
        </div>
      )}
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

const csvFrom = ({ head, rows }: Table): string => csvOf([head, ...rows].map((cells) => cells.map(spanWords)));

/** Under a head that stays, with a way into a spreadsheet. */
function TableView({ block }: { block: Table }) {
  const { head, rows, align } = block;
  const cell = (Cell: 'th' | 'td', look: string) =>
    function cellOf(spans: Span[], index: number) {
      return (
        <Cell
          key={index}
          dir="auto"
          style={{ textAlign: align[index] }}
          className={cx('border-b py-1 pe-5 whitespace-pre-line', look)}
        >
          <Spans spans={spans} />
        </Cell>
      );
    };
  return (
    <div className="flex min-w-0 flex-col items-start gap-1.5">
      <div className="max-h-[32rem] max-w-full overflow-auto" tabIndex={0}>
        <table className="text-start text-[0.92rem]">
          <thead className="sticky top-0 bg-surface">
            <tr>{head.map(cell('th', 'border-line-strong/60 font-semibold'))}</tr>
          </thead>
          <tbody>
            {rows.map((cells, row) => (
              <tr key={row}>{cells.map(cell('td', 'border-line align-top'))}</tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > 0 && <CopyButton text={() => csvFrom(block)} label={texts.copyCsv} />}
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
      return (
        <strong>
          <Spans spans={span.spans} />
        </strong>
      );
    case 'del':
      return (
        <del>
          <Spans spans={span.spans} />
        </del>
      );
    case 'em':
      return (
        <em>
          <Spans spans={span.spans} />
        </em>
      );
    case 'link':
      return (
        <TextLink target={span.target}>
          <Spans spans={span.spans.map(asWords)} />
        </TextLink>
      );
    case 'picture':
      return <Picture text={span.text} target={span.target} />;
  }
}

/** A picture that is a link is what it is called: one thing is opened by one click. */
const asWords = (span: Span): Span =>
  span.kind === 'picture' ? { kind: 'text', text: span.text || span.target } : span;
