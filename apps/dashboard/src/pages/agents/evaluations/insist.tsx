import { codeOf } from '../../../api.ts';
import { evaluations as texts } from '../../../texts/evaluations.ts';
import { Button } from '../../../ui/button.tsx';

/** What can be done with a change that no trial can show: insist on it. */
export function Insist({ error, onForce }: { error: Error | null; onForce: () => void }) {
  if (codeOf(error) !== 'CASES_NOT_PASSED') return null;
  return (
    <div>
      <Button onClick={onForce}>{texts.force}</Button>
    </div>
  );
}
