import { cx } from '../../../ui/cx.ts';
import type { DiffLine } from './line-diff.ts';

/** Lines of a file; of a difference with what becomes of them. */
export function DiffText({ label, lines, isDiff = false }: { label: string; lines: DiffLine[]; isDiff?: boolean }) {
  return (
    <pre
      tabIndex={0}
      aria-label={label}
      className="max-h-[36rem] overflow-auto rounded-xl border border-line bg-sunken py-2 font-mono text-[0.85rem] leading-relaxed"
    >
      {lines.map(({ kind, text }, index) => (
        <span
          key={index}
          className={cx(
            'block px-4 break-words whitespace-pre-wrap',
            isDiff && kind === 'added' && 'bg-ok-soft text-ok',
            isDiff && kind === 'removed' && 'bg-danger-soft text-danger',
          )}
        >
          {isDiff ? `${{ same: ' ', added: '+', removed: '−' }[kind]} ` : ''}
          {text}
        </span>
      ))}
    </pre>
  );
}
