import { web } from '@troupe/contract';
import type { Budget } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { ago, count, money, short } from '../../../format.ts';
import { states } from '../../../texts/common.ts';
import { costs as texts } from '../../../texts/costs.ts';
import { cost as capTexts } from '../../../texts/money.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Gauge } from '../../../ui/chart.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { LimitForm } from '../../../ui/limit-form.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { capBody, capName } from './cap.ts';
import type { CapBody } from './cap.ts';
import { CapForm } from './cap-form.tsx';

const keyOf = ({ kind, scope, agentId }: Budget) => `${kind}-${scope}-${agentId}`;

/** A plan without a limit of tokens bounds nothing. */
const bounds = ({ kind, limit }: Budget) => kind !== 'tokens' || limit !== null;

/** Everything that bounds what is spent: shown and changed here, with what happens at each. */
export function Budgets() {
  const read = useCall(web.costs.getBudgets, {});
  const agents = useCall(web.agents.list, {}).data?.agents ?? [];
  const [removing, setRemoving] = useState<Budget>();
  const [changing, setChanging] = useState<string>();
  const say = useSay();
  const put = useSend(web.usage.putCap, {
    refresh: [web.costs.getBudgets, web.usage.getCaps],
    done: () => {
      setRemoving(undefined);
      setChanging(undefined);
      say(capTexts.capSaved);
    },
  });
  const set = (body: CapBody) => put.mutate({ body });
  return (
    <Card title={texts.budgets} hint={texts.budgetsHint}>
      <Loaded from={read}>
        {({ budgets, more }) => (
          <div className="flex flex-col gap-6">
            {!budgets.some(({ kind }) => kind === 'cap') && <p className="text-ink-soft">{capTexts.capNone}</p>}
            <ul className="flex flex-col gap-5">
              {budgets.filter(bounds).map((budget) => (
                <BudgetLine
                  key={keyOf(budget)}
                  budget={budget}
                  isChanging={changing === keyOf(budget)}
                  busy={put.isPending}
                  error={changing === keyOf(budget) ? put.error : null}
                  onChange={(open) => setChanging(open ? keyOf(budget) : undefined)}
                  onSet={(limit) => set(capBody(budget, limit))}
                  onRemove={() => setRemoving(budget)}
                />
              ))}
            </ul>
            {more && <p className="text-ink-faint">{texts.more}</p>}
            <CapForm
              agents={agents}
              busy={put.isPending}
              error={removing || changing !== undefined ? null : put.error}
              onSet={set}
            />
          </div>
        )}
      </Loaded>
      <Removing
        budget={removing}
        busy={put.isPending}
        error={put.error}
        onClose={() => setRemoving(undefined)}
        onRemove={(budget) => set(capBody(budget, null))}
      />
    </Card>
  );
}

function Removing({
  budget,
  busy,
  error,
  onClose,
  onRemove,
}: {
  budget: Budget | undefined;
  busy: boolean;
  error: Error | null;
  onClose: () => void;
  onRemove: (budget: Budget) => void;
}) {
  return (
    <Confirm
      open={budget !== undefined}
      onClose={onClose}
      title={capTexts.capRemoveTitle}
      losses={
        <>
          <p>{budget && budgetName(budget)}</p>
          <p>{capTexts.capRemoveLoss}</p>
        </>
      }
      action={capTexts.capRemove}
      busy={busy}
      error={error}
      onConfirm={() => budget && onRemove(budget)}
    />
  );
}

function budgetName(budget: Budget): string {
  const { kind, agentId, agentName } = budget;
  const name = agentName ?? agentId ?? '';
  if (kind === 'tokens') return texts.tokensOf;
  if (kind === 'payments') return texts.payments(name);
  if (kind === 'strangers') return texts.strangers(name);
  return capName(budget, agentId === null ? [] : [{ id: agentId, name }]);
}

/** How much of it is used. */
function usedOf({ unit, kind, limit, used }: Budget): string {
  const shown = unit === 'usd' ? money : unit === 'tokens' ? short : count;
  if (limit === null) return kind === 'payments' ? texts.noDayLimit(shown(used ?? 0)) : texts.noLimit(shown(used ?? 0));
  if (used === null) return capTexts.capEach(shown(limit));
  if (kind === 'cap' && used > limit) return capTexts.capOver(shown(used - limit), shown(limit));
  return capTexts.capUsed(shown(used), shown(limit));
}

/** What happens at which share, in a sentence each. */
function happensOf({ kind, steps, above, resetsAt }: Budget): string {
  const said = steps.map(({ at, does }) =>
    kind === 'payments'
      ? texts.refusesPayments
      : kind === 'strangers'
        ? texts.refusesMessages
        : texts.happens[does](at),
  );
  const asked = above === null ? [] : [texts.asksAbove(money(above))];
  const anew = resetsAt === null ? [] : [capTexts.resets(ago(resetsAt))];
  return [...said, ...asked, ...anew].join(' ');
}

interface LineProps {
  budget: Budget;
  isChanging: boolean;
  busy: boolean;
  error: Error | null;
  onChange: (open: boolean) => void;
  onSet: (limit: number) => void;
  onRemove: () => void;
}

function BudgetLine({ budget, isChanging, busy, error, onChange, onSet, onRemove }: LineProps) {
  const { kind, agentId, limit, used } = budget;
  const name = budgetName(budget);
  const search = kind === 'payments' ? { agent: agentId } : { tab: 'settings', part: 'config' };
  return (
    <li className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <div className="min-w-56 flex-1">
          <Gauge label={name} used={used ?? 0} limit={limit ?? 0} text={usedOf(budget)} />
          <p className="mt-1 text-[0.85rem] text-ink-faint">{happensOf(budget)}</p>
        </div>
        {kind === 'cap' ? (
          <span className="flex gap-2">
            <Button
              small
              aria-expanded={isChanging}
              aria-label={texts.changeNamed(name)}
              onClick={() => onChange(!isChanging)}
            >
              {texts.change}
            </Button>
            <Button small aria-label={`${capTexts.capRemove}: ${name}`} onClick={onRemove}>
              {capTexts.capRemove}
            </Button>
          </span>
        ) : (
          agentId !== null && (
            <LinkButton
              small
              aria-label={texts.changeNamed(name)}
              to={kind === 'payments' ? '/dashboard/policy' : '/dashboard/agents/$id'}
              params={{ id: agentId } as never}
              search={search as never}
            >
              {texts.change}
            </LinkButton>
          )
        )}
      </div>
      {isChanging && (
        <NewLimit limit={limit ?? 0} busy={busy} error={error} onSet={onSet} onClose={() => onChange(false)} />
      )}
    </li>
  );
}

function NewLimit({
  limit,
  busy,
  error,
  onSet,
  onClose,
}: {
  limit: number;
  busy: boolean;
  error: Error | null;
  onSet: (limit: number) => void;
  onClose: () => void;
}) {
  return (
    <LimitForm
      words={{ limit: texts.newLimit, period: '', set: states.save }}
      periods={[{ value: 'same', label: '' }]}
      first="same"
      was={limit}
      busy={busy}
      error={error}
      className="rounded-xl bg-sunken p-4"
      onSet={onSet}
      after={<Button onClick={onClose}>{states.cancel}</Button>}
    />
  );
}
