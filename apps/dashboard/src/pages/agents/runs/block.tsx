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
