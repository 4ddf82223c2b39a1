import { web } from '@troupe/contract';
import type { Evaluation, EvaluationCase, TypesOf } from '@troupe/contract';
import { useState } from 'react';
import type { UseQueryResult } from '@tanstack/react-query';
import { useCall, useSend } from '../../../api.ts';
import { ago, money } from '../../../format.ts';
import { states } from '../../../texts/common.ts';
import { evaluations as texts } from '../../../texts/evaluations.ts';
import { useAsk } from '../../../ui/ask.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { Card, Status } from '../../../ui/card.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { CheckField } from '../../../ui/field.tsx';
import { Refused } from '../../../ui/form.tsx';
import { Empty, Loaded } from '../../../ui/states.tsx';
import { Table, type Column } from '../../../ui/table.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { CaseForm } from './case-form.tsx';
import { sayCheck } from './checks.ts';
import { EvaluationDialog } from './result.tsx';

const SHOWN = '10';

/** What an agent is tried with, and how it did. */
export function Evaluations({ agentId }: { agentId: string }) {
  const cases = useCall(web.evaluations.listCases, { params: { id: agentId } });
  const ran = useCall(web.evaluations.list, { params: { id: agentId }, query: { limit: SHOWN } });
  return (
    <div className="flex flex-col gap-5">
      <Results agentId={agentId} from={ran} cases={cases.data?.cases.length ?? 0} />
      <Cases agentId={agentId} from={cases} />
      <Gate agentId={agentId} isGated={ran.data?.isGated} />
    </div>
  );
}

type Ran = UseQueryResult<TypesOf<typeof web.evaluations.list>['reply']>;
type Known = UseQueryResult<TypesOf<typeof web.evaluations.listCases>['reply']>;

const COLUMNS: Column<Evaluation>[] = [
  { key: 'when', header: texts.when, cell: ({ createdAt }) => ago(createdAt) },
  { key: 'what', header: texts.what, cell: ({ isProposal }) => (isProposal ? texts.proposal : texts.asIs) },
  {
    key: 'status',
    header: texts.passed,
    cell: ({ status, passed, cases: all }) => (
      <span className="inline-flex flex-wrap items-center gap-2">
        <Status value={status === 'passed' ? 'ok' : status} text={texts.states[status] ?? status} />
        {texts.of(passed, all)}
      </span>
    ),
  },
  { key: 'cost', header: texts.cost, cell: ({ costUsd }) => <span className="num">{money(costUsd)}</span> },
];

function Results({ agentId, from, cases }: { agentId: string; from: Ran; cases: number }) {
  const [shown, setShown] = useState<string>();
  const refresh = [web.evaluations.list, web.evaluations.get];
  const start = useSend(web.evaluations.start, { refresh });
  const stop = useSend(web.evaluations.stop, { refresh });
  const rows = from.data?.evaluations ?? [];
  const last = rows.find(({ status }) => status === 'passed' || status === 'failed');
  const isBusy = rows[0]?.status === 'running';
  const about = last && last.cases > 0 ? money((last.costUsd / last.cases) * cases) : undefined;
  const actionsOf = ({ id, status }: Evaluation) => (
    <span className="inline-flex gap-1">
      <Button small kind="quiet" onClick={() => setShown(id)}>
        {texts.look}
      </Button>
      {status === 'running' && (
        <Button small kind="quiet" onClick={() => stop.mutate({ params: { id: agentId, evaluationId: id } })}>
          {texts.stop}
        </Button>
      )}
    </span>
  );
  return (
    <Card
      title={texts.results}
      hint={texts.resultsHint}
      flush
      actions={
        <Button
          kind="primary"
          icon="play"
          busy={start.isPending}
          disabled={isBusy || cases === 0}
          onClick={() => start.mutate({ params: { id: agentId }, body: {} })}
        >
          {about === undefined ? texts.run(cases) : texts.about(cases, about)}
        </Button>
      }
    >
      <div className="px-5">
        <Refused error={start.error ?? stop.error} />
      </div>
      <Table<Evaluation>
        label={texts.results}
        rows={from.data && rows}
        error={from.error}
        retry={() => void from.refetch()}
        rowKey={({ id }) => id}
        empty={<Empty title={texts.none}>{texts.noneHint}</Empty>}
        columns={[...COLUMNS, { key: 'look', header: '', cell: actionsOf }]}
      />
      {shown !== undefined && <EvaluationDialog agentId={agentId} id={shown} onClose={() => setShown(undefined)} />}
    </Card>
  );
}

function Cases({ agentId, from }: { agentId: string; from: Known }) {
  const [edited, setEdited] = useState<EvaluationCase | 'new'>();
  const remove = useAsk(
    web.evaluations.removeCase,
    (one: EvaluationCase) => ({ params: { id: agentId, caseId: one.id } }),
    { refresh: [web.evaluations.listCases] },
  );
  return (
    <Card
      title={texts.cases}
      hint={from.data && texts.casesHint(from.data.cases.length, from.data.max)}
      actions={
        <Button icon="plus" onClick={() => setEdited('new')}>
          {texts.add}
        </Button>
      }
    >
      <Loaded from={from}>
        {({ cases }) =>
          cases.length === 0 ? (
            <Empty title={texts.noCases}>{texts.noCasesHint}</Empty>
          ) : (
            <ul className="flex flex-col gap-3">
              {cases.map((one) => (
                <li key={one.id} className="flex items-start justify-between gap-3 rounded-xl border border-line p-4">
                  <span className="min-w-0 break-words" dir="auto">
                    <strong>{one.name}</strong>
                    <span className="block text-[0.9rem] text-ink-soft">{one.checks.map(sayCheck).join('; ')}</span>
                  </span>
                  <span className="inline-flex shrink-0 gap-1">
                    <IconButton icon="edit" label={`${texts.edit}: ${one.name}`} onClick={() => setEdited(one)} />
                    <IconButton icon="trash" label={`${states.delete}: ${one.name}`} onClick={() => remove.ask(one)} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {edited !== undefined && (
        <CaseForm
          agentId={agentId}
          given={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
      <Confirm {...remove.confirm} title={texts.removeTitle} losses={texts.removeLoss} action={states.delete} />
    </Card>
  );
}

function Gate({ agentId, isGated }: { agentId: string; isGated: boolean | undefined }) {
  const say = useSay();
  const set = useSend(web.evaluations.setGate, {
    refresh: [web.evaluations.list],
    done: (now) => say(now.isGated ? texts.gateOn : texts.gateOff),
  });
  return (
    <Card>
      <CheckField
        label={texts.gate}
        hint={texts.gateHint}
        checked={isGated ?? false}
        disabled={isGated === undefined || set.isPending}
        onChange={({ target }) => set.mutate({ params: { id: agentId }, body: { enabled: target.checked } })}
      />
      <Refused error={set.error} />
    </Card>
  );
}
