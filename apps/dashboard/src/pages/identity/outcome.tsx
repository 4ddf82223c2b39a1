import { Notice } from '../../ui/card.tsx';

/** What came of a try, in the words of who tried. */
export function Outcome({ test }: { test: { data?: { ok: boolean; message: string }; error: Error | null } }) {
  if (test.error) return <Notice tone="danger">{test.error.message}</Notice>;
  return test.data ? <Notice tone={test.data.ok ? 'ok' : 'danger'}>{test.data.message}</Notice> : null;
}
