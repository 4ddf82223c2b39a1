import { states } from '../texts/common.ts';
import { Button } from './button.tsx';
import { cx } from './cx.ts';
import { useCopy } from './use-copy.ts';

export function CopyButton({ text, label = states.copy }: { text: string | (() => string); label?: string }) {
  const { done, said, copy } = useCopy();
  return (
    <Button
      small
      icon={done ? 'check' : 'copy'}
      onClick={() => copy(typeof text === 'string' ? text : text())}
      className="min-w-0 whitespace-normal!"
    >
      <span aria-live="polite">{said || label}</span>
    </Button>
  );
}

/** Text to copy: commands, keys, configuration. Long lines wrap, long texts scroll. */
export function Code({ text, label, tall }: { text: string; label: string; tall?: boolean }) {
  return (
    <figure className="min-w-0 overflow-hidden rounded-xl border border-line bg-sunken">
      <figcaption className="flex items-center justify-between gap-3 border-b border-line py-1.5 pr-1.5 pl-4">
        <span className="min-w-0 truncate text-[0.85rem] text-ink-soft">{label}</span>
        <CopyButton text={text} />
      </figcaption>
      <pre
        tabIndex={0}
        aria-label={label}
        className={cx(
          'overflow-auto px-4 py-3 font-mono text-[0.85rem] leading-relaxed break-words whitespace-pre-wrap',
          tall ? 'max-h-[32rem]' : 'max-h-72',
        )}
      >
        {text}
      </pre>
    </figure>
  );
}
