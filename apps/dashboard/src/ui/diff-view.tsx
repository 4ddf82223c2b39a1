import type { Difference } from '../diff.ts';

const show = (value: unknown) => (value === undefined ? '–' : JSON.stringify(value));

/** Places that differ, with both values. */
export function DiffView({
  items,
  before,
  after,
  same,
}: {
  items: Difference[];
  before: string;
  after: string;
  same: string;
}) {
  if (items.length === 0) return <p className="text-ink-soft">{same}</p>;
  return (
    <ul className="flex flex-col gap-3">
      {items.map((item) => (
        <li key={item.path} className="min-w-0 rounded-lg border border-line p-3">
          <p className="font-mono text-[0.87rem] font-semibold break-all">{item.path}</p>
          <dl className="mt-1 grid grid-cols-[max-content_minmax(0,1fr)] gap-x-3 gap-y-1 font-mono text-[0.85rem]">
            <dt className="text-danger">− {before}</dt>
            <dd className="break-all">{show(item.before)}</dd>
            <dt className="text-ok">+ {after}</dt>
            <dd className="break-all">{show(item.after)}</dd>
          </dl>
        </li>
      ))}
    </ul>
  );
}
