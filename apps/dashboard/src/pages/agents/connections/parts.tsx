import { useSearch } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import type { ReactNode } from 'react';
import { connections as texts, servers } from '../../../texts/connections.ts';
import { Button } from '../../../ui/button.tsx';
import { Badge, Card, Notice } from '../../../ui/card.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
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
  rows,
  none,
  add,
  children,
}: {
  title: string;
  hint: ReactNode;
  read?: Read;
  /** One for each; undefined: they are still asked for. */
  rows?: readonly ReactNode[] | undefined;
  /** Said where there is none. */
  none?: string;
  /** The button, and the form that it opens. */
  add?: { label: string; form: (close: () => void) => ReactNode };
  children?: ReactNode;
}) {
  const [isAdding, setAdding] = useState(false);
  return (
    <Card
      title={title}
      hint={hint}
      actions={
        add && (
          <Button small icon="plus" onClick={() => setAdding(true)}>
            {add.label}
          </Button>
        )
      }
    >
      {read?.error && <Failure error={read.error} retry={() => void read.refetch()} />}
      {read && !read.data && !read.error && <Lines rows={2} />}
      {rows?.length === 0 && <p className="text-ink-soft">{none}</p>}
      {rows && rows.length > 0 && (
        <ul aria-label={title} className="flex flex-col gap-3">
          {rows}
        </ul>
      )}
      {children}
      <Suspense>{isAdding && add?.form(() => setAdding(false))}</Suspense>
    </Card>
  );
}

type Tone = 'neutral' | 'ok' | 'info' | 'spot' | 'danger';

export interface Act {
  label: string;
  onClick: () => void;
  busy?: boolean;
  isDanger?: boolean;
}

/** Read out with the name of the row: the label alone stands in every one. */
const Acts = ({ of, acts }: { of: string; acts: readonly Act[] }) =>
  acts.map(({ label, onClick, busy, isDanger }) => (
    <Button
      key={label}
      small
      kind={isDanger ? 'danger' : 'plain'}
      aria-label={texts.named(label, of)}
      busy={busy}
      onClick={onClick}
    >
      {label}
    </Button>
  ));

/** What `useAsk` gives, with what is lost. */
interface Removal {
  ask: (subject: undefined) => void;
  confirm: Pick<Parameters<typeof Confirm>[0], 'open' | 'onClose' | 'onConfirm' | 'busy' | 'error'>;
  losses: string;
  title?: string;
}

/** One connection: what it is, how it is, what can be done; what is wrong stands below with the way out. */
export function Row({
  name,
  state,
  detail,
  acts = [],
  remove,
  problem,
  remedies = [],
  children,
}: {
  name: string;
  state?: { tone: Tone; text: string } | undefined;
  detail?: ReactNode;
  acts?: readonly Act[];
  remove?: Removal;
  problem?: string | undefined;
  remedies?: readonly Act[];
  children?: ReactNode;
}) {
  const last = remove ? [{ label: texts.remove, onClick: () => remove.ask(undefined), isDanger: true }] : [];
  return (
    <li className="flex min-w-0 flex-col gap-2.5 rounded-xl border border-line px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <bdi className="min-w-0 font-medium break-words">{name}</bdi>
        {state && <Badge tone={state.tone}>{state.text}</Badge>}
        {detail && <span className="min-w-0 text-[0.87rem] break-words text-ink-soft max-sm:basis-full">{detail}</span>}
        <span className="flex flex-wrap gap-2 max-sm:basis-full sm:ms-auto">
          <Acts of={name} acts={[...acts, ...last]} />
        </span>
      </div>
      {problem !== undefined && (
        <Notice tone="danger" title={problem}>
          {remedies.length > 0 && (
            <div role="group" aria-label={texts.remedies} className="mt-2 flex flex-wrap gap-2">
              <Acts of={name} acts={remedies} />
            </div>
          )}
        </Notice>
      )}
      {children}
      {remove && (
        <Confirm
          {...remove.confirm}
          title={remove.title ?? texts.removeTitle(name)}
          losses={remove.losses}
          action={texts.remove}
        />
      )}
    </li>
  );
}

/** What came of asking a server for access, for who has come back from there. */
export function Returned({
  says,
}: {
  says: Record<'isConnected' | 'isRefused' | 'isFailed', (name: string) => string>;
}) {
  const { connected, refused, failed } = useSearch({ strict: false }) as Record<string, string | undefined>;
  return (
    <>
      {connected && <Notice tone="ok">{says.isConnected(connected)}</Notice>}
      {refused && <Notice tone="spot">{says.isRefused(refused)}</Notice>}
      {failed && <Notice tone="danger">{says.isFailed(failed)}</Notice>}
    </>
  );
}

/** How a server is, by colour. */
export const SERVER_TONE = { unused: 'neutral', connected: 'ok', failed: 'danger', consent: 'spot' } as const;

/** What a program that is an npm package is, for good. */
export function Pinned({ pin }: { pin: { name: string; version: string; integrity: string; packages: number } }) {
  return (
    <p className="text-[0.9rem] break-all text-ink-soft">
      {servers.pinned(pin.name, pin.version, pin.packages)} <code>{pin.integrity}</code>
    </p>
  );
}
