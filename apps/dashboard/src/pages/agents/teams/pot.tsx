import { web } from '@troupe/contract';
import { useCall, useSend } from '../../../api.ts';
import { money } from '../../../format.ts';
import { cost } from '../../../texts/money.ts';
import { teams as texts } from '../../../texts/teams.ts';
import { Button } from '../../../ui/button.tsx';
import { LimitForm } from '../../../ui/limit-form.tsx';

type Period = 'day' | 'month' | 'total';
const PERIODS: Period[] = ['day', 'month', 'total'];

/** What the agents of a team may spend together: what is left of it, and how much it is. */
export function Pot({ teamId, team }: { teamId: string; team: string }) {
  const read = useCall(web.usage.getCaps, {});
  const put = useSend(web.usage.putCap, { refresh: [web.usage.getCaps, web.costs.getBudgets] });
  const pot = read.data?.caps.find((cap) => cap.teamId === teamId);
  const set = (period: Period, limitUsd: number | null) =>
    put.mutate({ body: { scope: 'team', teamId, period, limitUsd } });
  return (
    <section aria-label={cost.teamPot(team)} className="mt-4 flex flex-col gap-2 border-t border-line pt-4">
      <h3 className="font-medium">{texts.pot}</h3>
      <p className="text-[0.9rem] text-ink-soft">{texts.potHint}</p>
      {read.data && (pot ? <Left {...pot} /> : <p>{texts.noPot}</p>)}
      <LimitForm
        words={{ limit: texts.potLimit, period: texts.potPeriod, set: texts.potSet }}
        periods={PERIODS.map((value) => ({ value, label: cost.capPeriods[value]! }))}
        first="month"
        busy={put.isPending}
        error={put.error}
        isQuiet
        onSet={(limit, period) => set(period, limit)}
        after={
          pot && (
            <Button kind="quiet" busy={put.isPending} onClick={() => set(pot.period, null)}>
              {texts.potRemove}
            </Button>
          )
        }
      />
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
