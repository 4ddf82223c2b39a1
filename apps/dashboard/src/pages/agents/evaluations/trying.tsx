import { web } from '@troupe/contract';
import type { EvaluationChange } from '@troupe/contract';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { evaluations as texts } from '../../../texts/evaluations.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';
import { Refused } from '../../../ui/form.tsx';

/** Trying a change on the agent's cases, or insisting on it. */
export function TryOrForce({
  agentId,
  change,
  onForce,
  onTaken,
}: {
  agentId: string;
  change: EvaluationChange;
  onForce: () => void;
  /** All passed, and it was saved. */
  onTaken: () => void;
}) {
  const [tried, setTried] = useState<string>();
  const start = useSend(web.evaluations.start, {
    refresh: [web.evaluations.list],
    done: ({ id }) => setTried(id),
  });
  const body = { change, takes: true };
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap gap-2">
        <Button
          kind="primary"
          busy={start.isPending}
          disabled={tried !== undefined}
          onClick={() => start.mutate({ params: { id: agentId }, body })}
        >
          {texts.tryIt}
        </Button>
        <Button onClick={onForce}>{texts.force}</Button>
      </div>
      <Refused error={start.error} />
      {tried !== undefined && <Trying agentId={agentId} id={tried} onTaken={onTaken} />}
    </div>
  );
}

function Trying({ agentId, id, onTaken }: { agentId: string; id: string; onTaken: () => void }) {
  const { data } = useCall(web.evaluations.get, { params: { id: agentId, evaluationId: id } });
  const told = useRef(false);
  const isTaken = data?.takenAt !== undefined && data.takenAt !== null;
  useEffect(() => {
    if (!isTaken || told.current) return;
    told.current = true;
    onTaken();
  }, [isTaken, onTaken]);
  if (!data) return null;
  if (isTaken) return <Notice tone="ok">{texts.taken}</Notice>;
  if (data.status === 'running' || (data.status === 'passed' && data.notTaken === null))
    return <Notice>{texts.trying(data.over, data.cases)}</Notice>;
  return (
    <Notice tone="danger">
      {data.notTaken === null ? texts.didNot : texts.notTaken(data.notTaken)}{' '}
      <Link to="." search={{ tab: 'settings', part: 'evaluations' } as never} className="link">
        {texts.seeResults}
      </Link>
    </Notice>
  );
}
