import { web } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { numberOf } from '../../../checks.ts';
import { money } from '../../../format.ts';
import { cost } from '../../../texts/money.ts';
import { teams as texts } from '../../../texts/teams.ts';
import { Button } from '../../../ui/button.tsx';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';

type Period = 'day' | 'month' | 'total';
const PERIODS: Period[] = ['day', 'month', 'total'];

/** What the agents of a team may spend together: what is left of it, and how much it is. */
export function Pot({ teamId, team }: { teamId: string; team: string }) {
  const read = useCall(web.usage.getCaps, {});
  const put = useSend(web.usage.putCap, { refresh: [web.usage.getCaps, web.costs.getBudgets] });
  const [limit, setLimit] = useState('');
  const [period, setPeriod] = useState<Period>('month');
  const pot = read.data?.caps.find((cap) => cap.teamId === teamId);
  const set = (limitUsd: number | null) => put.mutate({ body: { scope: 'team', teamId, period, limitUsd } });
  return (
    <section aria-label={cost.teamPot(team)} className="mt-4 flex flex-col gap-2 border-t border-line pt-4">
      <h3 className="font-medium">{texts.pot}</h3>
      <p className="text-[0.9rem] text-ink-soft">{texts.potHint}</p>
      {read.data && (pot ? <Left {...pot} /> : <p>{texts.noPot}</p>)}
      <Form
        error={put.error}
        fields={[]}
        onSubmit={() => set(numberOf(limit))}
        className="flex flex-wrap items-end gap-3"
      >
        <div className="w-36">
          <TextField
            label={texts.potLimit}
            type="number"
            step="any"
            required
            value={limit}
            onChange={({ target }) => setLimit(target.value)}
          />
        </div>
        <div className="min-w-28">
          <SelectField
            label={texts.potPeriod}
            value={period}
            onChange={({ target }) => setPeriod(target.value as Period)}
            choices={PERIODS.map((value) => ({ value, label: cost.capPeriods[value]! }))}
          />
        </div>
        <Button type="submit" busy={put.isPending}>
          {texts.potSet}
        </Button>
        {pot && (
          <Button kind="quiet" busy={put.isPending} onClick={() => set(null)}>
            {texts.potRemove}
          </Button>
        )}
        <div className="basis-full empty:hidden">
          <Refused error={put.error} />
        </div>
      </Form>
    </section>
  );
}

function Left({
  usedUsd,
  reservedUsd,
  limitUsd,
  period,
}: {
  usedUsd: number | null;
  reservedUsd: number | null;
  limitUsd: number;
  period: Period;
}) {
  return (
    <p>
      {texts.potUsed(money(usedUsd ?? 0), money(limitUsd), texts.potPeriods[period]!)}
      {(reservedUsd ?? 0) > 0 && `, ${texts.potReserved(money(reservedUsd ?? 0))}`}
    </p>
  );
}
