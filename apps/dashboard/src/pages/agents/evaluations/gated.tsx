import { lazy, Suspense, type ComponentProps } from 'react';
import { codeOf } from '../../../api.ts';
import type { TryOrForce } from './trying.tsx';

/** Few changes are refused: what can be done then is loaded when it is needed. */
const Lazy = lazy(() => import('./trying.tsx').then((part) => ({ default: part.TryOrForce })));

/** What can be done with a change that was refused because the agent's cases have not passed with it: try it, or insist. */
export function Gated({ error, ...change }: { error: Error | null } & ComponentProps<typeof TryOrForce>) {
  if (codeOf(error) !== 'CASES_NOT_PASSED') return null;
  return (
    <Suspense>
      <Lazy {...change} />
    </Suspense>
  );
}
