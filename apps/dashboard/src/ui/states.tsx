import type { ReactNode } from 'react';
import { states } from '../texts/common.ts';
import { Button } from './button.tsx';
import { Notice } from './card.tsx';

export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  // Inside a page that has more to show, one quiet line says it.
  if (!children && !action) return <p className="px-5 pt-1 pb-5 text-ink-faint">{title}</p>;
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-10 text-center">
      <svg viewBox="0 0 64 40" width="64" height="40" aria-hidden="true" className="mb-2 text-line-strong">
        <path
          d="M4 38V4h56v34M4 4c2 14 8 22 16 26M60 4c-2 14-8 22-16 26M14 38h36"
          fill="none"
          stroke="currentColor"
          strokeWidth="2"
          strokeLinecap="round"
        />
      </svg>
      <p className="font-display text-[1.15rem] font-semibold">{title}</p>
      {children && <div className="max-w-prose text-ink-soft">{children}</div>}
      {action && <div className="mt-3">{action}</div>}
    </div>
  );
}

export function Failure({ error, retry }: { error: Error; retry?: () => void }) {
  return (
    <Notice tone="danger" title={states.failed}>
      <p>{error.message}</p>
      {retry && (
        <div className="mt-2">
          <Button small onClick={retry} icon="restart">
            {states.retry}
          </Button>
        </div>
      )}
    </Notice>
  );
}

export function Lines({ rows = 4 }: { rows?: number }) {
  return (
    <div role="status" aria-label={states.loading} className="flex flex-col gap-3 py-1">
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className="skeleton h-4" style={{ width: `${92 - ((index * 17) % 45)}%` }} />
      ))}
    </div>
  );
}

interface Read<T> {
  data: T | undefined;
  error: Error | null;
  refetch: () => unknown;
}

/** Loading, error or the data: the three states of every read, in one place. */
export function Loaded<T>({
  from,
  rows,
  children,
}: {
  from: Read<T>;
  rows?: number;
  children: (data: T) => ReactNode;
}) {
  if (from.data !== undefined) return <>{children(from.data)}</>;
  if (from.error) return <Failure error={from.error} retry={() => void from.refetch()} />;
  return <Lines rows={rows} />;
}
