import { web } from '@troupe/contract';
import type { EvaluationResult } from '@troupe/contract';
import { useCall } from '../../../api.ts';
import { duration, money } from '../../../format.ts';
import { evaluations as texts } from '../../../texts/evaluations.ts';
import { Badge, Notice, Status } from '../../../ui/card.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { sayCheck } from './checks.ts';

/** One evaluation, case by case, beside the one before. */
export function EvaluationDialog({ agentId, id, onClose }: { agentId: string; id: string; onClose: () => void }) {
  const read = useCall(web.evaluations.get, { params: { id: agentId, evaluationId: id } });
  return (
    <Dialog open onClose={onClose} title={texts.results} hint={texts.resultsHint} wide>
      <Loaded from={read}>
        {({ before, takenAt, notTaken, results }) => (
          <div className="flex flex-col gap-4">
            {takenAt && <Notice tone="ok">{texts.taken}</Notice>}
            {notTaken && <Notice tone="danger">{texts.notTaken(notTaken)}</Notice>}
            {before && (
              <p className="text-ink-soft">{texts.before(before.passed, before.cases, money(before.costUsd))}</p>
            )}
            <ul className="flex flex-col gap-3">
              {results.map((result) => (
                <Result key={result.caseId} result={result} />
              ))}
            </ul>
          </div>
        )}
      </Loaded>
    </Dialog>
  );
}

function Turn({ status, was }: Pick<EvaluationResult, 'status' | 'was'>) {
  if (was === null || (status === 'passed') === (was === 'passed')) return null;
  if (status === 'waiting' || status === 'running') return null;
  return status === 'passed' ? (
    <Badge tone="ok">{texts.better}</Badge>
  ) : was === 'passed' ? (
    <Badge tone="danger">{texts.worse}</Badge>
  ) : null;
}

function Result({ result }: { result: EvaluationResult }) {
  const { name, input, status, was, checks, answer, calls, error, costUsd, seconds } = result;
  return (
    <li className="rounded-xl border border-line p-4">
      <div className="flex flex-wrap items-center gap-2">
        <Status value={status === 'passed' ? 'ok' : status} text={texts.states[status] ?? status} />
        <strong className="min-w-0 break-words" dir="auto">
          {name}
        </strong>
        <Turn status={status} was={was} />
        <span className="num ms-auto text-[0.87rem] text-ink-faint">
          {duration(seconds * 1000)} {money(costUsd)}
        </span>
      </div>
      {error && <p className="mt-2 text-danger">{error}</p>}
      <ul className="mt-2 flex flex-col gap-1 text-[0.9rem]">
        {checks.map(({ check, passed, says }, place) => (
          <li key={place} className="break-words" dir="auto">
            <span className={passed === false ? 'text-danger' : passed ? 'text-ok' : 'text-ink-faint'}>
              {sayCheck(check)}
            </span>
            {says && <span className="text-ink-soft"> — {says}</span>}
          </li>
        ))}
      </ul>
      <details className="mt-2">
        <summary className="cursor-pointer text-[0.9rem] text-ink-soft">{texts.answer}</summary>
        <p className="eyebrow mt-2">{texts.said}</p>
        <p className="text-[0.9rem] break-words whitespace-pre-wrap" dir="auto">
          {input}
        </p>
        {calls.length > 0 && (
          <>
            <p className="eyebrow mt-2">{texts.calls}</p>
            <ul className="text-[0.9rem]">
              {calls.map(({ tool, args, isRun }, place) => (
                <li key={place} className="break-all">
                  {tool} <code>{args}</code> {!isRun && <Badge tone="spot">{texts.notRun}</Badge>}
                </li>
              ))}
            </ul>
          </>
        )}
        <p className="eyebrow mt-2">{texts.answer}</p>
        <p className="text-[0.9rem] break-words whitespace-pre-wrap" dir="auto">
          {answer ?? ''}
        </p>
      </details>
    </li>
  );
}
