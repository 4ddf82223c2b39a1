import type { ReactNode } from 'react';
import { connections as texts, servers } from '../../../texts/connections.ts';
import { Button } from '../../../ui/button.tsx';
import { Badge, Card, Notice } from '../../../ui/card.tsx';
import { Failure, Lines } from '../../../ui/states.tsx';

/** How every kind of connection is shown: what it is for, a button that adds one, and a row for each that is there. */

interface Read {
  data: unknown;
  error: Error | null;
  refetch: () => unknown;
}

export function Kind({
  title,
  hint,
  read,
  none,
  add,
  children,
}: {
  title: string;
  hint: ReactNode;
  read?: Read;
  /** Said where there is none; undefined: there are some. */
  none?: string | undefined;
  add?: { label: string; onClick: () => void };
  children?: ReactNode;
}) {
  return (
    <Card
      title={title}
      hint={hint}
      actions={
        add && (
          <Button small icon="plus" onClick={add.onClick}>
            {add.label}
          </Button>
        )
      }
    >
      {read?.error && <Failure error={read.error} retry={() => void read.refetch()} />}
      {read && !read.data && !read.error && <Lines rows={2} />}
      {none && <p className="text-ink-soft">{none}</p>}
      {children}
    </Card>
  );
}

export const Rows = ({ label, children }: { label: string; children: ReactNode }) => (
  <ul aria-label={label} className="flex flex-col gap-3 empty:hidden">
    {children}
  </ul>
);

type Tone = 'neutral' | 'ok' | 'info' | 'spot' | 'danger';

export interface Act {
  label: string;
  /** Read out instead of the label, which stands in every row. */
  named: string;
  onClick: () => void;
  busy?: boolean;
  isDanger?: boolean;
}

const Acts = ({ acts }: { acts: readonly Act[] }) =>
  acts.map(({ label, named, onClick, busy, isDanger }) => (
    <Button key={label} small kind={isDanger ? 'danger' : 'plain'} aria-label={named} busy={busy} onClick={onClick}>
      {label}
    </Button>
  ));

/** One connection: what it is, how it is, what can be done; what is wrong stands below with the way out. */
export function Row({
  name,
  state,
  detail,
  acts,
  problem,
  children,
}: {
  name: string;
  state?: { tone: Tone; text: string } | undefined;
  detail?: ReactNode;
  acts: readonly Act[];
  problem?: { text: string; acts: readonly Act[] } | undefined;
  children?: ReactNode;
}) {
  return (
    <li className="flex min-w-0 flex-col gap-2.5 rounded-xl border border-line px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <bdi className="min-w-0 font-medium break-words">{name}</bdi>
        {state && <Badge tone={state.tone}>{state.text}</Badge>}
        {detail && <span className="min-w-0 text-[0.87rem] break-words text-ink-soft max-sm:basis-full">{detail}</span>}
        <span className="flex flex-wrap gap-2 max-sm:basis-full sm:ms-auto">
          <Acts acts={acts} />
        </span>
      </div>
      {problem && (
        <Notice tone="danger" title={problem.text}>
          {problem.acts.length > 0 && (
            <div role="group" aria-label={texts.remedies} className="mt-2 flex flex-wrap gap-2">
              <Acts acts={problem.acts} />
            </div>
          )}
        </Notice>
      )}
      {children}
    </li>
  );
}

/** What a program that is an npm package is, for good. */
export function Pinned({ pin }: { pin: { name: string; version: string; integrity: string; packages: number } }) {
  return (
    <p className="text-[0.9rem] break-all text-ink-soft">
      {servers.pinned(pin.name, pin.version, pin.packages)} <code>{pin.integrity}</code>
    </p>
  );
}
