import { lazy, Suspense, useState } from 'react';
import { api as texts } from '../../../texts/connections.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { Code } from '../../../ui/code.tsx';
import { Segments } from '../../../ui/tabs.tsx';
import { Kind } from './parts.tsx';
import { callsOf, WAYS } from './calls.ts';
import type { Way } from './calls.ts';
import type { AddressKind } from './addresses.ts';

// The page around is full: what few ask for is loaded when they do.
const Address = lazy(() => import('./address.tsx'));
const NewKey = lazy(() => import('./new-key.tsx'));

const isCall = (shown: Way | AddressKind): shown is Way => (WAYS as readonly string[]).includes(shown);
const CHOICES = Object.entries(texts.ways).map(([value, label]) => ({ value, label }));

/** How a program talks to the agent, with all that is known filled in, and the key that it needs. */
export function Api({ agentId }: { agentId: string }) {
  const [shown, setShown] = useState<Way | AddressKind>('curl');
  return (
    <Kind
      title={texts.title}
      hint={texts.hint}
      add={{ label: texts.newKey, form: (close) => <NewKey agentId={agentId} onClose={close} /> }}
    >
      <div className="flex flex-col gap-3">
        <div className="flex flex-wrap items-center justify-between gap-2">
          <div className="max-w-full overflow-x-auto">
            <Segments
              label={texts.by}
              value={shown}
              onChange={(next) => setShown(next as Way | AddressKind)}
              choices={CHOICES}
            />
          </div>
          <LinkButton small kind="quiet" to="/dashboard/settings" search={{ tab: 'keys' } as never}>
            {texts.allKeys}
          </LinkButton>
        </div>
        {isCall(shown) ? (
          <Code label={texts.ways[shown]} text={callsOf(shown, location.origin, agentId)} />
        ) : (
          <Suspense>
            <Address agentId={agentId} kind={shown} />
          </Suspense>
        )}
      </div>
    </Kind>
  );
}
