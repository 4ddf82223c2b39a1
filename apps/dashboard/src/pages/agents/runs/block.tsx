import { Markdown } from '../../../ui/markdown.tsx';

/** What somebody said, as it is shown in the conversation, however long. */
export function Words({ label, text }: { label: string; text: string }) {
  return (
    <div>
      <p className="mb-1 text-[0.85rem] text-ink-faint">{label}</p>
      <div
        tabIndex={0}
        role="group"
        dir="auto"
        aria-label={label}
        className="max-h-96 overflow-auto rounded-lg bg-sunken p-3 text-[0.95rem] break-words"
      >
        <Markdown text={text} />
      </div>
    </div>
  );
}

/** A text as it is, however long. */
export function Block({ label, text }: { label: string; text: string }) {
  return (
    <div>
      <p className="mb-1 text-[0.85rem] text-ink-faint">{label}</p>
      <pre
        tabIndex={0}
        dir="auto"
        aria-label={label}
        className="max-h-72 overflow-auto rounded-lg bg-sunken p-3 font-mono text-[0.85rem] break-words whitespace-pre-wrap"
      >
        {text}
      </pre>
    </div>
  );
}
